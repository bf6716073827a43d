//! `program FILES OUT`: arrow-rs with fastgcm reads what pyarrow has encrypted, and writes for pyarrow to read.

use arrow_array::{Int64Array, RecordBatch};
use parquet::{
    arrow::{
        ArrowWriter,
        arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder},
    },
    encryption::{
        decrypt::{FileDecryptionProperties, KeyRetriever},
        encrypt::FileEncryptionProperties,
    },
    errors::{ParquetError, Result},
    file::properties::WriterProperties,
};
use std::{
    env, fs,
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
};

const ROWS: i64 = 40;

/// The key is in the metadata of the key (`make_files.py`), in hex.
struct InMetadata;

impl KeyRetriever for InMetadata {
    fn retrieve_key(&self, metadata: &[u8]) -> Result<Vec<u8>> {
        let metadata = String::from_utf8_lossy(metadata);
        let hex = metadata.split_once("\"wrappedDEK\":\"").and_then(|(_, rest)| rest.split('"').next());
        let hex = hex.ok_or(ParquetError::General("no key".into()))?;
        Ok((0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect())
    }
}

fn metadata(key: &[u8], is_footer: bool) -> Vec<u8> {
    let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    let store = if is_footer { "\"kmsInstanceID\":\"DEFAULT\",\"kmsInstanceURL\":\"DEFAULT\"," } else { "" };
    format!(
        "{{\"keyMaterialType\":\"PKMT1\",\"internalStorage\":true,\"isFooterKey\":{is_footer},{store}\"masterKeyID\":\"f\",\"wrappedDEK\":\"{hex}\",\
        \"doubleWrapping\":false}}"
    )
    .into_bytes()
}

fn by_metadata() -> Arc<FileDecryptionProperties> {
    FileDecryptionProperties::with_key_retriever(Arc::new(InMetadata)).build().unwrap()
}

/// Reads all of a file.
fn read(path: &Path, properties: Arc<FileDecryptionProperties>) -> Result<Vec<RecordBatch>> {
    let options = ArrowReaderOptions::new().with_file_decryption_properties(properties);
    let reader = ParquetRecordBatchReaderBuilder::try_new_with_options(File::open(path)?, options)?.build()?;
    Ok(reader.collect::<std::result::Result<_, _>>()?)
}

/// Columns `n` and `m`: 7 i and 8 i.
fn is_right(batches: &[RecordBatch]) -> bool {
    ["n", "m"].iter().zip([7, 8]).all(|(name, factor)| {
        let columns = batches.iter().map(|batch| batch.column_by_name(name).unwrap());
        let numbers = columns.flat_map(|column| column.as_any().downcast_ref::<Int64Array>().unwrap().values().to_vec());
        numbers.eq((0..ROWS).map(|i| factor * i))
    })
}

/// What pyarrow has written, with keys of each length; and not what is changed after that.
fn read_all(files: &Path, changed: &Path) -> (usize, usize) {
    let (mut right, mut refused) = (0, 0);
    for entry in fs::read_dir(files).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(is_right(&read(&path, by_metadata()).expect(&name)), "{name}");
        right += 1;
        // The first page's header, which GCM encrypts always. Of pages that CTR encrypts, nothing finds it.
        let mut bytes = fs::read(&path).unwrap();
        for place in [4 + 4 + 12, bytes.len() - 9] {
            bytes[place] ^= 1;
            fs::write(changed, &bytes).unwrap();
            assert!(read(changed, by_metadata()).is_err(), "{name}");
            bytes[place] ^= 1;
            refused += 1;
        }
        let other_key = FileDecryptionProperties::builder(vec![7; 16]).build().unwrap();
        assert!(read(&path, other_key).is_err(), "{name}");
        refused += 1;
    }
    (right, refused)
}

/// Files with keys of each length: one key for all, the footer signed and keys for columns, and a prefix of AAD.
fn write_all(folder: &Path) -> usize {
    let mut written = 0;
    let column = |factor: i64| Arc::new(Int64Array::from_iter_values((0..ROWS).map(|i| factor * i))) as _;
    let batch = RecordBatch::try_from_iter([("n", column(7)), ("m", column(8))]).unwrap();
    for length in [16, 24, 32] {
        let [footer_key, n, m] = [1, 2, 3].map(|byte| vec![byte; length]);
        let builder = || FileEncryptionProperties::builder(footer_key.clone()).with_footer_key_metadata(metadata(&footer_key, true));
        let columns = builder()
            .with_plaintext_footer(true)
            .with_column_key_and_metadata("n", n.clone(), metadata(&n, false))
            .with_column_key_and_metadata("m", m.clone(), metadata(&m, false));
        for (name, builder) in
            [("uniform", builder()), ("columns", columns), ("prefix", builder().with_aad_prefix(b"table".to_vec()).with_aad_prefix_storage(true))]
        {
            let path = folder.join(format!("{name}-{}.parquet", 8 * length));
            let properties = WriterProperties::builder().with_file_encryption_properties(builder.build().unwrap());
            let properties = properties.set_max_row_group_row_count(Some(20)).set_data_page_row_count_limit(10).set_write_batch_size(10).build();
            let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), Some(properties)).unwrap();
            writer.write(&batch).unwrap();
            writer.close().unwrap();
            assert!(is_right(&read(&path, by_metadata()).unwrap()), "{name}");
            assert!(!fs::read(&path).unwrap().windows(16).any(|bytes| bytes == [70u64.to_le_bytes(), 77u64.to_le_bytes()].concat()));
            written += 1;
        }
    }
    let properties = FileEncryptionProperties::builder(vec![1; 17]).build().unwrap();
    let properties = WriterProperties::builder().with_file_encryption_properties(properties).build();
    let outcome = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).and_then(|mut writer| {
        writer.write(&batch)?;
        writer.close()
    });
    assert!(outcome.is_err(), "a key of 17 bytes");
    written
}

fn main() {
    let [files, out] = [1, 2].map(|i| PathBuf::from(env::args_os().nth(i).expect("FILES OUT")));
    let (right, refused) = read_all(&files, &out.join("changed"));
    assert_eq!((right, refused), (12, 36));
    assert!(write_all(&out) > 0);
}
