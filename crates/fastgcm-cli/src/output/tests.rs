//! New files with and without a name.

use super::*;
use std::fs;

fn place(path: &Path, force: bool) -> Place {
    match Target::plan(path, force, PRIVATE).unwrap() {
        Target::Place(place) => place,
        Target::Stream(..) => panic!("{path:?} is no stream"),
    }
}

fn names(directory: &Path) -> usize {
    fs::read_dir(directory).unwrap().count()
}

/// The way to make a file, and the number of names in the directory meanwhile.
type Make = (fn(Place) -> Result<NewFile, Failure>, usize);

/// With an unnamed file, and with a random name as where there are no unnamed files.
const BOTH: [Make; 2] = [(NewFile::create, 0), (NewFile::create_named, 1)];

#[test]
fn committed_it_has_its_name_and_all_its_bytes() {
    for (make, meanwhile) in BOTH {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new");
        let file = make(place(&path, false)).unwrap();
        assert_eq!(names(dir.path()), meanwhile);
        let mut output = Output::New(file);
        output.write_all(b"content").unwrap();
        output.commit().unwrap();
        assert_eq!((fs::read(&path).unwrap(), names(dir.path())), (b"content".to_vec(), 1));
    }
}

#[test]
fn dropped_it_is_gone() {
    for (make, _) in BOTH {
        for force in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("old");
            fs::write(&path, "old").unwrap();
            drop(make(place(&path, force)).unwrap());
            assert_eq!((fs::read(&path).unwrap(), names(dir.path())), (b"old".to_vec(), 1));
        }
    }
}

#[test]
fn a_file_that_came_meanwhile_is_replaced_by_force_only() {
    for (make, _) in BOTH {
        for force in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("name");
            let mut output = Output::New(make(place(&path, force)).unwrap());
            output.write_all(b"new").unwrap();
            fs::write(&path, "old").unwrap();
            let result = output.commit();
            assert_eq!(result.as_ref().map_err(Failure::code), if force { Ok(&()) } else { Err(Code::Exists) });
            assert_eq!(fs::read(&path).unwrap(), if force { b"new" } else { b"old" });
            assert_eq!(names(dir.path()), 1);
        }
    }
}

#[test]
fn random_names_differ() {
    assert_ne!(random_name().unwrap(), random_name().unwrap());
}
