//! The heads of requests at both TCP doors, and bodies in chunks, against a reading that knows nothing but lines.

use bridge_http::{Chunks, Length};
use bridge_websocket::request;

/// The most that a body may have here.
const BODY: usize = 64 << 10;
/// Where the heads came in.
const HTTP: u16 = 10088;
const WEBSOCKET: u16 = 9225;

/// The input is what a connection receives: a head, and what stands behind it.
pub fn http(data: &[u8]) {
    let (head, rest) = data.split_at(request::end(data).unwrap_or(data.len()));
    match bridge_http::judge(head, HTTP, BODY) {
        Ok(judged) => {
            let lines = Lines::of(head, HTTP);
            assert_eq!((lines.count("origin"), lines.count("referer")), (0, 0));
            assert!(lines.count("content-length") + lines.count("transfer-encoding") <= 1);
            assert!(judged.method != "POST" || lines.count("content-type") == 1);
            assert!(lines.all("sec-fetch-site").all(|site| site == "none"));
            match judged.length {
                Length::Chunked => assert_eq!(lines.count("transfer-encoding"), 1),
                Length::Known(length) => assert!(length <= BODY && (length == 0 || judged.method == "POST")),
            }
        }
        Err(refusal) => {
            assert!(matches!(refusal.status, 400 | 401 | 403..=405 | 413 | 415 | 431), "{refusal}");
        }
    }
    match bridge_websocket::judge(head, WEBSOCKET) {
        Ok(upgrade) => {
            let lines = Lines::of(head, WEBSOCKET);
            assert_eq!(lines.count("origin"), usize::from(upgrade.origin.is_some()));
            assert!(lines.all("origin").eq(upgrade.origin.as_deref()));
            assert!(lines.all("sec-websocket-key").eq([upgrade.key.as_str()]));
            assert_eq!(lines.count("content-length") + lines.count("transfer-encoding"), 0);
        }
        Err(refusal) => {
            assert!(matches!(refusal.status, 400 | 403 | 405 | 426 | 431), "{refusal}");
            let answer = String::from_utf8(refusal.response()).unwrap();
            let (before, body) = answer.split_once("\r\n\r\n").unwrap();
            assert!(before.contains(&format!("Content-Length: {}\r\n", body.len())), "{answer}");
            assert!(before.split("\r\n").skip(1).all(|line| line.contains(": ")), "{answer}");
        }
    }
    chunks(rest);
}

/// A head that passed, as its lines.
struct Lines(Vec<(String, String)>);

impl Lines {
    /// The Host is ours and there once, and nothing of the head looked like rubbish while it came.
    fn of(head: &[u8], port: u16) -> Self {
        for cut in 1..head.len() {
            for seen in [0, cut - 1] {
                assert!(!request::hopeless(&head[..cut], seen), "given up after {cut} bytes");
            }
        }
        let text = String::from_utf8_lossy(head);
        let mut lines = text.strip_suffix("\r\n\r\n").unwrap().split("\r\n");
        let first = lines.next().unwrap();
        assert!(first.ends_with(" HTTP/1.1") && first.split(' ').count() == 3, "{first}");
        let white = [' ', '\t'];
        let pair =
            |(name, value): (&str, &str)| (name.to_ascii_lowercase(), value.trim_matches(white).to_owned());
        let lines = Self(lines.map(|line| pair(line.split_once(':').unwrap())).collect());
        let host = lines.all("host").collect::<Vec<_>>().join(" ").to_ascii_lowercase();
        assert!(
            ["127.0.0.1", "localhost", "[::1]"].iter().any(|name| host == format!("{name}:{port}")),
            "{host}"
        );
        lines
    }

    fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn count(&self, name: &str) -> usize {
        self.all(name).count()
    }
}

/// A body in chunks is the same however it is cut, and as a plain reading has it.
fn chunks(input: &[u8]) {
    let whole = read(input, input.len() + 1);
    for step in [1, 7] {
        assert_eq!(read(input, step), whole, "cut every {step} bytes");
    }
    if let Ok((body, used, true)) = whole {
        assert_eq!(plain_body(&input[..used]), Some(body));
    }
}

/// The body so far, the bytes that it took, whether that is all of it; or the status of the refusal.
fn read(input: &[u8], step: usize) -> Result<(Vec<u8>, usize, bool), u16> {
    let (mut chunks, mut body, mut used) = (Chunks::new(300), Vec::new(), 0);
    for piece in input.chunks(step) {
        let taken = chunks.take(piece, &mut body).map_err(|refusal| refusal.status)?;
        used += taken;
        if taken < piece.len() {
            assert!(chunks.is_done());
            break;
        }
    }
    assert!(body.len() <= 300);
    Ok((body, used, chunks.is_done()))
}

fn plain_body(mut input: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = input.windows(2).position(|two| two == b"\r\n")?;
        let size = usize::from_str_radix(std::str::from_utf8(&input[..line]).ok()?, 16).ok()?;
        let chunk = &input[line + 2..];
        if size == 0 {
            return (chunk == b"\r\n").then_some(body);
        }
        body.extend_from_slice(chunk.get(..size)?);
        input = chunk.get(size..)?.strip_prefix(b"\r\n")?;
    }
}
