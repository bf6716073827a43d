//! How a file gets its name, on file systems that have all calls and, where a variable names its folder, on one that lacks them.

use fastgcm_file::naming::{Place, give_name, publish};
use std::{env, fs, io::ErrorKind, os::unix::fs::symlink, path::Path};
use tempfile::TempDir;

/// A folder with all calls, and, where a variable names one, a folder without links.
fn folders() -> impl Iterator<Item = TempDir> {
    let without_links = env::var_os("FASTGCM_UNLINKED").map(|folder| tempfile::tempdir_in(folder).unwrap());
    if without_links.is_none() {
        println!("SKIPPED naming without links: there is no file system without links (`.ci/run tests` makes one)");
    }
    [tempfile::tempdir().unwrap()].into_iter().chain(without_links)
}

/// Of many that want one name at once, one gets it, with all that it has, and nothing of the others goes.
#[test]
fn one_of_many_gets_the_name() {
    const THREADS: usize = 8;
    const ROUNDS: usize = 20;
    let mut cases = 0;
    for dir in folders() {
        let at = |name: String| dir.path().join(name);
        for round in 0..ROUNDS {
            let barrier = std::sync::Barrier::new(THREADS);
            let publish = |number: usize| {
                fs::write(at(format!("old{number}")), number.to_string()).unwrap();
                barrier.wait();
                publish(&at(format!("old{number}")), &at(format!("new{round}")), false)
            };
            let results: Vec<_> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..THREADS)
                    .map(|number| {
                        let publish = &publish;
                        scope.spawn(move || publish(number))
                    })
                    .collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            let winners: Vec<_> = (0..THREADS).filter(|number| results[*number].is_ok()).collect();
            let [winner] = winners[..] else { panic!("{results:?}") };
            assert_eq!(fs::read(at(format!("new{round}"))).unwrap(), winner.to_string().into_bytes());
            for loser in (0..THREADS).filter(|number| *number != winner) {
                assert_eq!(results[loser].as_ref().unwrap_err().kind(), ErrorKind::AlreadyExists);
                assert_eq!(fs::read(at(format!("old{loser}"))).unwrap(), loser.to_string().into_bytes());
            }
            cases += 1;
        }
    }
    assert!(cases > 0);
}

#[test]
fn a_name_that_is_taken_stays() {
    let mut cases = 0;
    for dir in folders() {
        let at = |name: &str| dir.path().join(name);
        let names = || fs::read_dir(dir.path()).unwrap().count();
        for replace in [false, true] {
            fs::write(at("old"), "text").unwrap();
            publish(&at("old"), &at("new"), replace).unwrap();
            assert_eq!((fs::read(at("new")).unwrap(), names()), (b"text".to_vec(), 1));
            // There is nothing that could get the name: no claim stays, and nothing goes.
            assert!(publish(&at("old"), &at("other"), replace).is_err());
            assert!(publish(&at("old"), &at("new"), replace).is_err());
            assert_eq!((fs::read(at("new")).unwrap(), names()), (b"text".to_vec(), 1));
            cases += 3;
        }
        fs::write(at("old"), "more").unwrap();
        let refused = publish(&at("old"), &at("new"), false).unwrap_err();
        assert_eq!((refused.kind(), fs::read(at("new")).unwrap(), names()), (ErrorKind::AlreadyExists, b"text".to_vec(), 2));
        // Relative to a folder.
        let place = Place::of(&at("new")).unwrap();
        give_name(&place.folder, Path::new("old"), Path::new("new"), true).unwrap();
        place.sync().unwrap();
        assert_eq!((fs::read(at("new")).unwrap(), names()), (b"more".to_vec(), 1));
        cases += 2;
    }
    assert!(cases > 0);
}

#[test]
fn where_a_path_leads() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().canonicalize().unwrap();
    let at = |name: &str| folder.join(name);
    fs::create_dir(at("inner")).unwrap();
    fs::write(at("inner/end"), "").unwrap();
    symlink("inner/end", at("one")).unwrap();
    symlink(at("one"), at("two")).unwrap();
    symlink("inner/nothing", at("dangling")).unwrap();
    symlink("circle", at("circle")).unwrap();
    for (path, leads) in
        [("inner/end", "inner/end"), ("one", "inner/end"), ("two", "inner/end"), ("dangling", "inner/nothing"), ("new", "new")]
    {
        let place = Place::of(&at(path)).unwrap();
        assert_eq!((&place.path, place.name.as_os_str()), (&at(leads), Path::new(leads).file_name().unwrap()));
    }
    assert!(Place::of(&at("circle")).is_err() && Place::of(&at("no/folder")).is_err() && Place::of(&at("inner/..")).is_err());
}
