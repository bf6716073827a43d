use std::path::Path;
pub(crate) fn run(_root: &Path) -> Result<(), String> {
    let probe = Path::new("/tmp/wt/target-asm/release/probe");
    let list = std::process::Command::new(probe).output().map_err(|e| e.to_string())?;
    print!("{}", String::from_utf8_lossy(&list.stdout));
    for row in ["aesni-avx", "aesni-sse", "portable"] {
        let t = std::time::Instant::now();
        let mut total = 0;
        let mut cases = vec![row.to_string()];
        for n in [0usize, 16, 63, 64, 200, 300, 500, 512, 1420, 4095, 4096, 16384] {
            if row == "portable" && n > 512 {
                continue;
            }
            for v in ["seal", "open"] {
                cases.push(format!("{v},16,{n}"));
            }
        }
        let mut traced = crate::step::Traced::start(probe, &cases)?;
        while traced.next_marker()?.is_some() {
            let n = traced.count()?;
            total += n;
            print!("{n} ");
        }
        println!("{row} {total} in {:?} {:x?}", t.elapsed(), traced.code());
    }
    Ok(())
}
