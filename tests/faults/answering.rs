//! A service that is written by hand: one answer to whatever it hears.

use std::io::{Read, Write};
use std::net::TcpListener;

/// Answers every call with this head and the body that `reply` makes; returns its address.
pub fn answering<B: AsRef<[u8]>>(head: impl Into<String>, mut reply: impl FnMut(&str) -> B + Send + 'static) -> String {
    let (listener, head) = (TcpListener::bind("127.0.0.1:0").unwrap(), head.into());
    let root = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut heard = [0; 8192];
            let length = stream.read(&mut heard).unwrap_or(0);
            let body = reply(&String::from_utf8_lossy(&heard[..length]));
            let mut head = format!("HTTP/1.1 {head}\r\nconnection: close\r\n");
            if !head.contains("transfer-encoding") {
                head += &format!("content-length: {}\r\n", body.as_ref().len());
            }
            let _ = stream.write_all(&[head.as_bytes(), b"\r\n", body.as_ref()].concat());
        }
    });
    root
}
