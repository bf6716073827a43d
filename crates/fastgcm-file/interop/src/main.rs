//! A server that keeps what is uploaded as sealed files, and gives it out opened:
//!
//! ```text
//! cargo run -p fastgcm-file-interop -- FOLDER      # then: curl -T letter.txt localhost:3000/letter.txt; curl localhost:3000/letter.txt
//! ```

use axum::{
    Router,
    body::Body,
    extract::{Path, State},
    http::{StatusCode, header::CONTENT_LENGTH},
    response::{IntoResponse, Response},
    routing::get,
};
use fastgcm_file::{AsyncRangeReader, AsyncWriter, Error, Format, Key};
use futures_util::{StreamExt, TryStreamExt, stream};
use std::{io, path::PathBuf, sync::Arc};
use tokio::fs;
use tokio_util::io::{ReaderStream, StreamReader};

/// The folder of the sealed files, and the key of all. The context binds each file to its name.
struct Store {
    folder: PathBuf,
    key: Key,
}

fn app(store: Store) -> Router {
    Router::new().route("/{name}", get(download).put(upload)).with_state(Arc::new(store))
}

/// The name of a file in the folder, and nothing else.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A file that is not complete. It goes if the body breaks off, or if the client does: then axum drops the future.
struct Part(PathBuf);

impl Drop for Part {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Seals the body while it arrives. The file gets its name when it is complete.
async fn upload(State(store): State<Arc<Store>>, Path(name): Path<String>, body: Body) -> StatusCode {
    if !is_name(&name) {
        return StatusCode::BAD_REQUEST;
    }
    let part = store.folder.join(format!("{name}.part"));
    let Ok(file) = fs::OpenOptions::new().write(true).create_new(true).open(&part).await else { return StatusCode::CONFLICT };
    let part = Part(part);
    let seal = async {
        let mut body = StreamReader::new(body.into_data_stream().map_err(io::Error::other));
        let mut writer = AsyncWriter::new(&store.key, name.as_bytes(), file)?;
        tokio::io::copy_buf(&mut body, &mut writer).await?;
        writer.finish().await?.sync_all().await?; // only here, when the body is whole
        fs::rename(&part.0, store.folder.join(&name)).await?;
        Ok::<(), Error>(())
    };
    if seal.await.is_ok() { StatusCode::CREATED } else { StatusCode::BAD_REQUEST }
}

/// Opens the file while it is sent. Its last chunk is verified before anything is sent, so the length is right; a chunk that is not authentic breaks the body off.
async fn download(State(store): State<Arc<Store>>, Path(name): Path<String>) -> Response {
    if !is_name(&name) {
        return StatusCode::BAD_REQUEST.into_response();
    }
    let open = async {
        let file = fs::File::open(store.folder.join(&name)).await?;
        AsyncRangeReader::new(&store.key, name.as_bytes(), file).await
    };
    let mut file = match open.await {
        Ok(file) => file,
        Err(Error::Io(error)) if error.kind() == io::ErrorKind::NotFound => return StatusCode::NOT_FOUND.into_response(),
        Err(_) => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    };
    let len = file.len();
    let (mut inside, outside) = tokio::io::duplex(1 << 16);
    let sent = tokio::spawn(async move { file.copy(0..len, &mut inside).await });
    // What became of the task stands behind what it has sent: an error ends the body as an error.
    let verdict = async move { sent.await.map_err(io::Error::other)?.map(|()| Vec::new().into()).map_err(io::Error::from) };
    let body = Body::from_stream(ReaderStream::new(outside).chain(stream::once(verdict)));
    ([(CONTENT_LENGTH, len)], body).into_response()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("which folder?")?.into();
    // A server keeps its key elsewhere: this one forgets it.
    let store = Store { folder, key: Key::generate(Format::default())? };
    axum::serve(tokio::net::TcpListener::bind("127.0.0.1:3000").await?, app(store)).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::{body::to_bytes, http::Request};
    use tower::ServiceExt;

    async fn put(app: &Router, name: &str, body: Body) -> StatusCode {
        app.clone().oneshot(Request::put(format!("/{name}")).body(body).unwrap()).await.unwrap().status()
    }

    async fn got(app: &Router, name: &str) -> (StatusCode, Result<Vec<u8>, axum::Error>) {
        let response = app.clone().oneshot(Request::get(format!("/{name}")).body(Body::empty()).unwrap()).await.unwrap();
        (response.status(), to_bytes(response.into_body(), usize::MAX).await.map(Vec::from))
    }

    /// Texts of several lengths go in and out; what breaks off leaves nothing; what was changed on the disk does not come out whole.
    #[tokio::test]
    async fn in_and_out() {
        let folder = tempfile::tempdir().unwrap();
        let app = app(Store { folder: folder.path().into(), key: Key::generate(Format::default()).unwrap() });
        let mut files = 0;
        for len in [0, 5, 16_383, 16_384, 1_000_000] {
            let (name, text): (_, Vec<u8>) = (format!("n{len}"), (0..len).map(|i| (i * 7) as u8).collect());
            let pieces: Vec<io::Result<Vec<u8>>> = text.chunks(10_000).map(|piece| Ok(piece.to_vec())).collect();
            assert_eq!(put(&app, &name, Body::from_stream(stream::iter(pieces))).await, StatusCode::CREATED);
            let (status, body) = got(&app, &name).await;
            assert!(status == StatusCode::OK && body.unwrap() == text);
            files += 1;
        }
        // The client goes in the middle: the handler is dropped.
        let endless = stream::iter([Ok::<_, io::Error>(vec![1; 20_000])]).chain(stream::pending());
        let upload = put(&app, "gone", Body::from_stream(endless));
        assert!(tokio::time::timeout(std::time::Duration::from_millis(200), upload).await.is_err());
        let broken = [Ok(vec![1; 20_000]), Err(io::Error::other("gone"))];
        assert_eq!(put(&app, "broken", Body::from_stream(stream::iter(broken))).await, StatusCode::BAD_REQUEST);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), files);
        assert_eq!(got(&app, "broken").await.0, StatusCode::NOT_FOUND);
        for name in ["..", "a.b", "%2e%2e%2fx"] {
            assert_eq!(put(&app, name, Body::empty()).await, StatusCode::BAD_REQUEST, "{name}");
        }
        // A chunk in the middle: the body breaks off. The end, or another name: nothing is sent.
        let file = folder.path().join("n1000000");
        let mut sealed = std::fs::read(&file).unwrap();
        sealed[500_000] ^= 1;
        std::fs::write(&file, &sealed).unwrap();
        let (status, body) = got(&app, "n1000000").await;
        assert!(status == StatusCode::OK && body.is_err());
        std::fs::write(&file, &sealed[..900_000]).unwrap();
        assert_eq!(got(&app, "n1000000").await.0, StatusCode::INTERNAL_SERVER_ERROR);
        std::fs::rename(folder.path().join("n5"), folder.path().join("other")).unwrap();
        assert_eq!(got(&app, "other").await.0, StatusCode::INTERNAL_SERVER_ERROR);
    }
}
