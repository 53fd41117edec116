//! The page that the demo drives, served on a port of its own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use crate::trouble::{Doing, Outcome};

const PAGE: &str = include_str!("page.html");

/// Serves the page until the process ends; returns its address.
pub(crate) fn serve() -> Outcome<String> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).doing("open a port for the demo's page")?;
    let address = listener.local_addr().doing("open a port for the demo's page")?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A browser opens spare connections that stay silent, so none may hold up the next.
            std::thread::spawn(move || answer(&stream));
        }
    });
    Ok(format!("http://{address}/"))
}

fn answer(mut stream: &TcpStream) -> Option<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    let mut head = BufReader::new(stream.take(16 << 10));
    let mut request = String::new();
    head.read_line(&mut request).ok()?;
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        if head.read_line(&mut line).ok()? == 0 {
            return None;
        }
    }
    let (status, body) = match request.split(' ').nth(1) {
        Some("/") => ("200 OK", PAGE),
        _ => ("404 Not Found", ""),
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(answer.as_bytes()).ok()
}
