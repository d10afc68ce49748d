use super::*;

#[test]
fn slices_and_windows_are_cut_to_what_there_is() {
    let body = Body::in_memory(b"0123456789".to_vec());
    let middle = body.slice(2..8);
    assert_eq!(middle.whole().unwrap(), b"234567");
    assert_eq!(middle.slice(4..100).whole().unwrap(), b"67");
    assert!(body.window(20..30).unwrap().is_empty());
    assert_eq!(middle.unpacked().unwrap().whole().unwrap(), b"234567");
    assert!(
        middle.is_same(&body.slice(2..8)) && !middle.is_same(&body) && !middle.is_same(&middle.unpacked().unwrap())
    );
}

#[test]
fn windows_join_to_the_whole() {
    let bytes: Vec<u8> = (0..WINDOW * 2 + 17).map(|n| (n % 251) as u8).collect();
    let mut file = tempfile::tempfile().unwrap();
    io::Write::write_all(&mut file, &bytes).unwrap();
    for body in [Body::in_memory(bytes.clone()), Body::on_disk(file).unwrap()] {
        let (mut joined, mut windows) = (Vec::new(), body.windows());
        while let Some(window) = windows.read().unwrap() {
            joined.extend_from_slice(window);
        }
        assert!(joined == bytes);
    }
}

#[test]
fn a_file_reads_like_memory() {
    let mut file = tempfile::tempfile().unwrap();
    io::Write::write_all(&mut file, b"hello body").unwrap();
    let body = Body::on_disk(file).unwrap();
    assert_eq!(body.window(6..10).unwrap(), b"body");
    assert_eq!(body.window(0..5).unwrap(), b"hello");
}

#[test]
fn a_file_that_got_shorter_is_read_as_far_as_it_goes() {
    let mut file = tempfile::tempfile().unwrap();
    io::Write::write_all(&mut file, &[7; 20_000]).unwrap();
    let body = Body::on_disk(file.try_clone().unwrap()).unwrap();
    file.set_len(10_000).unwrap();
    assert_eq!(body.window(9_990..10_000).unwrap(), [7; 10]);
    assert_eq!(body.window(9_990..10_001).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
}
