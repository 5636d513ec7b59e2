//! `batch --cache`: results that are taken from a folder or a server are those that were compiled.

use crate::common::{Folder, gpucc, sample, text};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Runs `batch` over some samples; gives its summary.
#[track_caller]
fn batch(target: &str, cache: &str, into: &str) -> String {
    let samples = [sample("phong.wgsl"), sample("collatz.wgsl"), sample("blur.wgsl")];
    let mut args = vec!["batch", "--target", target, "--cache", cache, "-o", into];
    args.extend(["--emit", "asm", "--emit", "json", "--emit", "elf"]);
    args.extend(samples.iter().map(String::as_str));
    text(&gpucc(&args))
}

/// Files of a folder and of those within, without the times of reports.
fn contents(folder: &str) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let mut bytes = fs::read(&path).expect("a file");
        if name.ends_with(".json") {
            let report = String::from_utf8(bytes).expect("text");
            let lines = report.lines().filter(|line| !line.contains("_microseconds\""));
            bytes = lines.collect::<Vec<_>>().join("\n").into_bytes();
        }
        all.insert(name, bytes);
    }
    all
}

fn blobs(cache: &str) -> Vec<std::path::PathBuf> {
    let folders = fs::read_dir(cache).expect("a folder").map(|entry| entry.expect("one").path());
    let blobs = folders.flat_map(|folder| fs::read_dir(folder).expect("a folder"));
    let mut blobs: Vec<_> = blobs.map(|entry| entry.expect("one").path()).collect();
    blobs.sort();
    blobs
}

#[test]
fn a_folder_gives_what_was_compiled() {
    for target in ["r700", "valhall", "g45", "rogue"] {
        let folder = Folder::new(&format!("cache-{target}"));
        let (cache, first, second) = (folder.path("c"), folder.path("1"), folder.path("2"));
        assert!(batch(target, &cache, &first).ends_with("cache: 0 found, 3 not\n"), "{target}");
        assert!(batch(target, &cache, &second).ends_with("cache: 3 found, 0 not\n"), "{target}");
        assert_eq!(contents(&first), contents(&second), "{target}");
        assert_eq!(blobs(&cache).len(), 3);
    }
}

#[test]
fn damaged_and_foreign_blobs_are_compiled_again_and_replaced() {
    let folder = Folder::new("cache-damage");
    let (cache, first, second) = (folder.path("c"), folder.path("1"), folder.path("2"));
    batch("r700", &cache, &first);
    let paths = blobs(&cache);
    let whole = fs::read(&paths[0]).expect("a blob");
    fs::write(&paths[0], &whole[..whole.len() / 2]).expect("it is written");
    let mut other = fs::read(&paths[1]).expect("a blob");
    // The build's hash.
    other[20] ^= 1;
    fs::write(&paths[1], &other).expect("it is written");
    let args = ["batch", "--target", "r700", "--cache", &cache, "-o", &second];
    let samples = [sample("phong.wgsl"), sample("collatz.wgsl"), sample("blur.wgsl")];
    let output =
        gpucc(&args.into_iter().chain(samples.iter().map(String::as_str)).collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(0));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("warning: the cache failed: "), "{stderr}");
    assert!(stderr.contains("it failed 2 times"), "{stderr}");
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("cache: 1 found, 2 not\n"));
    assert_eq!(fs::read(&paths[0]).expect("a blob"), whole, "it is replaced");
    assert!(batch("r700", &cache, &first).ends_with("cache: 3 found, 0 not\n"));
}

#[test]
fn other_options_and_other_sources_have_other_keys() {
    let folder = Folder::new("cache-keys");
    let (cache, out) = (folder.path("c"), folder.path("o"));
    let source = "@fragment fn f() -> @location(0) vec4f { return vec4f(0.5); }\n";
    let shader = folder.write("a.wgsl", source);
    let run = |more: &[&str]| {
        let args = ["batch", "--target", "r700", "--cache", &cache, "-o", &out, &shader];
        text(&gpucc(&args.into_iter().chain(more.iter().copied()).collect::<Vec<_>>()))
    };
    assert!(run(&[]).contains("cache: 0 found, 1 not"));
    assert!(run(&[]).contains("cache: 1 found, 0 not"));
    assert!(run(&["-O", "0"]).contains("cache: 0 found, 1 not"));
    assert!(run(&["--chip", "rv730"]).contains("cache: 0 found, 1 not"));
    folder.write("a.wgsl", source.replace("0.5", "0.25"));
    assert!(run(&[]).contains("cache: 0 found, 1 not"));
    folder.write("a.wgsl", source);
    assert!(run(&[]).contains("cache: 1 found, 0 not"));
}

#[test]
fn what_no_cache_keeps_is_refused_before_anything_is_compiled() {
    let folder = Folder::new("cache-forms");
    let (cache, out) = (folder.path("c"), folder.path("o"));
    for (target, form) in [("r700", "ir"), ("r700", "html"), ("r700", "mach"), ("interp", "ir")] {
        let args = ["batch", "--target", target, "--cache", &cache, "-o", &out, "--emit", form];
        let samples = [sample("color.wgsl")];
        let all: Vec<&str> = args.into_iter().chain(samples.iter().map(String::as_str)).collect();
        assert_eq!(gpucc(&all).status.code(), Some(2), "{target} {form}");
    }
    let color = sample("color.wgsl");
    for place in ["https://localhost/x", "ftp://localhost/", "http://"] {
        let args = ["batch", "--target", "r700", "--cache", place, "-o", &out, &color];
        assert_eq!(gpucc(&args).status.code(), Some(2), "{place}");
    }
    assert!(!Path::new(&out).exists());
}

/// A server that keeps what is put and gives it back, as caches of build systems do.
fn serve(listener: TcpListener, kept: Arc<Mutex<BTreeMap<String, Vec<u8>>>>) {
    for stream in listener.incoming() {
        let kept = Arc::clone(&kept);
        std::thread::spawn(move || answer(stream.expect("a connection"), &kept));
    }
}

fn answer(stream: TcpStream, kept: &Mutex<BTreeMap<String, Vec<u8>>>) {
    let mut reader = BufReader::new(stream.try_clone().expect("one more handle"));
    let mut stream = stream;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let mut words = line.split_whitespace().map(str::to_owned);
        let (method, path) = (words.next().expect("a method"), words.next().expect("a path"));
        let mut length = 0;
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).expect("a header");
            if header.trim().is_empty() {
                break;
            }
            if let Some(text) = header.to_ascii_lowercase().strip_prefix("content-length:") {
                length = text.trim().parse().expect("a length");
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).expect("the body");
        let mut kept = kept.lock().expect("nobody panics");
        let (status, reply) = match (&*method, kept.get(&path)) {
            ("PUT", _) => {
                kept.insert(path, body);
                ("201 Created", Vec::new())
            }
            (_, Some(found)) => ("200 OK", found.clone()),
            (_, None) => ("404 Not Found", Vec::new()),
        };
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", reply.len());
        stream.write_all(head.as_bytes()).expect("it is sent");
        stream.write_all(&reply).expect("it is sent");
    }
}

#[test]
fn a_server_gives_what_was_put() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let cache = format!("http://{}/shaders/", listener.local_addr().expect("an address"));
    let kept = Arc::default();
    let own = Arc::clone(&kept);
    std::thread::spawn(move || serve(listener, own));
    let folder = Folder::new("cache-server");
    let (first, second) = (folder.path("1"), folder.path("2"));
    assert!(batch("valhall", &cache, &first).ends_with("cache: 0 found, 3 not\n"));
    assert!(batch("valhall", &cache, &second).ends_with("cache: 3 found, 0 not\n"));
    assert_eq!(contents(&first), contents(&second));
    let kept = kept.lock().expect("nobody panics");
    assert!(kept.keys().all(|path| path.starts_with("/shaders/") && path.len() == 9 + 64));
}

/// The first block of a page in a language.
fn block(page: &str, language: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(page);
    let text = fs::read_to_string(path).expect("the page is there");
    let start = format!("```{language}\n");
    let (_, rest) = text.split_once(&start).expect("it has such a block");
    rest.split_once("```").expect("the block ends").0.to_owned()
}

/// A process that ends with the test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_server_of_the_page_is_a_cache() {
    if Command::new("nginx").arg("-v").output().is_err() {
        let _ = writeln!(std::io::stderr(), "skipped: nginx is not installed");
        return;
    }
    let folder = Folder::new("cache-nginx");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    drop(listener);
    let own = folder.path("");
    // One process: killed masters leave their workers behind.
    let head = format!(
        "daemon off; master_process off; user root; pid {own}pid; error_log {own}log;\nhttp {{\n  client_body_temp_path {own}body;\n"
    );
    let config = block("farm.md", "nginx");
    let config = config.replace("http {\n", &head);
    let config = config.replace("listen 8080", &format!("listen 127.0.0.1:{port}"));
    let config = config.replace("/srv/cache", &format!("{own}store"));
    assert!(config.contains("pid ") && config.contains(&format!("{port};")), "{config}");
    let config = folder.write("nginx.conf", config);
    let server = Command::new("nginx").args(["-c", &config]).spawn().expect("it is installed");
    let _server = Killed(server);
    let started = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(started.elapsed() < Duration::from_secs(20), "nginx does not answer");
        std::thread::sleep(Duration::from_millis(20));
    }
    let cache = format!("http://127.0.0.1:{port}/shaders");
    let (first, second) = (folder.path("1"), folder.path("2"));
    assert!(batch("r700", &cache, &first).ends_with("cache: 0 found, 3 not\n"));
    assert!(batch("r700", &cache, &second).ends_with("cache: 3 found, 0 not\n"));
    assert_eq!(contents(&first), contents(&second));
}

#[test]
fn without_the_server_all_is_compiled() {
    // A port that nobody listens on.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let cache = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let folder = Folder::new("cache-absent");
    let (out, color) = (folder.path("o"), sample("color.wgsl"));
    let output = gpucc(&["batch", "--target", "r700", "--cache", &cache, "-o", &out, &color]);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("warning: the cache failed: http://"));
}
