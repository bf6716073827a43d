"""`spark.py write|read FOLDER CLASSPATH OPTIONS`: a job of Spark that writes encrypted Parquet, or reads it, in a Java with these options."""

import sys

from pyspark.sql import SparkSession, functions

how, folder, path, options = sys.argv[1:]
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
builder = builder.config("spark.driver.extraClassPath", path).config("spark.driver.extraJavaOptions", options)
builder = builder.config("spark.hadoop.parquet.crypto.factory.class", "org.apache.parquet.crypto.keytools.PropertiesDrivenCryptoFactory")
session = builder.config("spark.hadoop.parquet.encryption.kms.client.class", "Kms").getOrCreate()
if how == "write":
    rows = session.range(200_000).withColumn("secret", functions.sha2(functions.col("id").cast("string"), 256))
    writer = rows.write.option("parquet.encryption.column.keys", "k: secret").option("parquet.encryption.footer.key", "k")
    writer.parquet(folder, compression="zstd")
rows = session.read.parquet(folder)
right = rows.filter(functions.col("secret") == functions.sha2(functions.col("id").cast("string"), 256)).count()
print(f"rows: {right} ", flush=True)
session.stop()
