import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.common.type.HiveDecimal;
import org.apache.hadoop.hive.ql.exec.vector.*;
import org.apache.orc.*;
import java.nio.charset.StandardCharsets;
import java.sql.Timestamp;
import java.time.*;
import java.util.*;

public class OrcRows {
  static Random R = new Random(7);
  static String schema = "struct<id:bigint,b:boolean,ti:tinyint,si:smallint,i:int,patched:bigint,mono:bigint,rnd:bigint,rep:bigint,f:float,d:double,sd:string,su:string,bin:binary,ch:char(6),vc:varchar(10),dt:date,d9:decimal(9,2),d18:decimal(18,4),d38:decimal(38,10),ts:timestamp,tz:timestamp with local time zone,li:array<int>,mp:map<string,bigint>,st:struct<x:int,y:array<struct<k:string,v:double>>>,nul:int,full:int,txt:string>";
  static byte[] u(String s) { return s.getBytes(StandardCharsets.UTF_8); }
  static boolean nul(int i, int m) { return i % m == m / 2 || (i / 700) % 3 == 2 && i % 2 == 0; }
  public static void main(String[] a) throws Exception {
    String out = a[0]; String ver = a[1]; String comp = a[2]; int rows = Integer.parseInt(a[3]); int stripeRows = Integer.parseInt(a[4]);
    int buf = Integer.parseInt(a[5]); double dict = Double.parseDouble(a[6]); String bloom = a.length > 7 ? a[7] : "";
    Configuration c = new Configuration();
    c.set("fs.file.impl", "org.apache.hadoop.fs.RawLocalFileSystem");
    TypeDescription t = TypeDescription.fromString(schema);
    c.setLong("orc.stripe.row.count", stripeRows); c.setDouble("orc.dictionary.key.threshold", dict);
    OrcFile.WriterOptions o = OrcFile.writerOptions(c).setSchema(t).overwrite(true).compress(CompressionKind.valueOf(comp)).rowIndexStride(1000).bufferSize(buf).enforceBufferSize();
    o.version(ver.equals("0.11") ? OrcFile.Version.V_0_11 : ver.equals("0.12") ? OrcFile.Version.V_0_12 : OrcFile.Version.UNSTABLE_PRE_2_0);
    c.setDouble("orc.dictionary.key.threshold", dict);
    c.setLong("orc.stripe.row.count", stripeRows);

    if (!bloom.isEmpty()) o.bloomFilterColumns(bloom);
    java.lang.reflect.Method m = null;
    Writer w = OrcFile.createWriter(new Path(out), o);
    VectorizedRowBatch batch = t.createRowBatch(o.getVersion() == OrcFile.Version.UNSTABLE_PRE_2_0 ? TypeDescription.RowBatchVersion.USE_DECIMAL64 : TypeDescription.RowBatchVersion.ORIGINAL, 1000);
    for (int i = 0; i < rows; i++) {
      int r = batch.size++;
      lng(batch, 0, r, i, false);
      lng(batch, 1, r, (i / 3) % 2, nul(i, 7));
      lng(batch, 2, r, (byte) (i % 300 < 100 ? 5 : i), nul(i, 11));
      lng(batch, 3, r, (short) (i * 37), nul(i, 13));
      lng(batch, 4, r, i % 500 < 250 ? i * 1000003 : -i, nul(i, 17));
      lng(batch, 5, r, R.nextInt(100) == 0 ? (R.nextBoolean() ? 1L << 40 : 900000) + R.nextInt() : R.nextInt(40) - 3, nul(i, 19));
      lng(batch, 6, r, 1000000000000L + i * 10L + (i % 600 > 300 ? R.nextInt(9) : 0), false);
      lng(batch, 7, r, R.nextLong(), nul(i, 23));
      lng(batch, 8, r, (i / 5) % 4 - 2, nul(i, 29));
      dbl(batch, 9, r, (float) (i * 0.5 - 100), nul(i, 7));
      dbl(batch, 10, r, i % 97 == 0 ? Double.NaN : i * 1e10 / 3, nul(i, 5));
      str(batch, 11, r, "word" + (i * i) % 23, nul(i, 9));
      str(batch, 12, r, i % 50 == 0 ? "" : "unique-ü-" + i * 7919L % 100003, nul(i, 31));
      byts(batch, 13, r, new byte[]{(byte) i, (byte) (i >> 8), (byte) 0xff}, nul(i, 8));
      str(batch, 14, r, "c" + i % 40, nul(i, 12));
      str(batch, 15, r, "v日" + i % 1000, nul(i, 14));
      lng(batch, 16, r, i * 13L - 30000, nul(i, 15));
      dec(batch, 17, r, HiveDecimal.create(java.math.BigDecimal.valueOf(i * 7L - 5000, 2)), nul(i, 16), 2);
      dec(batch, 18, r, HiveDecimal.create(java.math.BigDecimal.valueOf(R.nextLong() % 1000000000000000000L, 4)), nul(i, 18), 4);
      dec(batch, 19, r, HiveDecimal.create(new java.math.BigDecimal(new java.math.BigInteger(120, R).multiply(java.math.BigInteger.valueOf(i % 2 * 2 - 1)), 10)), nul(i, 20), 10);
      LocalDateTime ldt = i % 400 == 7 ? LocalDateTime.of(1969, 12, 31, 23, 59, 59, 500) : LocalDateTime.of(1890, 1, 1, 0, 0, 0).plusSeconds(i * 700000L + R.nextInt(86400)).plusNanos(i % 3 == 0 ? 0 : i % 3 == 1 ? (i % 1000) * 1000000 : R.nextInt(1000000000));
      if (ldt.getYear() == 1969 && ldt.getMonthValue() == 12 && ldt.getDayOfMonth() == 31) ldt = ldt.withNano(500);
      Timestamp ts = Timestamp.valueOf(ldt);
      // A text in a gap of summer time does not exist; take what Java made of it.
      ldt = ts.toLocalDateTime();
      TimestampColumnVector tv = (TimestampColumnVector) batch.cols[20];
      tv.set(r, ts);
      tv = (TimestampColumnVector) batch.cols[21];
      if (nul(i, 21)) { tv.noNulls = false; tv.isNull[r] = true; } else tv.set(r, Timestamp.from(Instant.ofEpochSecond(i * 500000L - 500000000L, i * 1001 % 1000000000)));
      ListColumnVector li = (ListColumnVector) batch.cols[22];
      if (nul(i, 10)) { li.noNulls = false; li.isNull[r] = true; } else {
        int n = i % 4; li.offsets[r] = li.childCount; li.lengths[r] = n; li.childCount += n;
        li.child.ensureSize(li.childCount, true);
        for (int k = 0; k < n; k++) { LongColumnVector ch = (LongColumnVector) li.child; int p = (int) li.offsets[r] + k; if ((i + k) % 6 == 0) { ch.noNulls = false; ch.isNull[p] = true; } else ch.vector[p] = i * 10 + k; }
      }
      MapColumnVector mp = (MapColumnVector) batch.cols[23];
      if (nul(i, 22)) { mp.noNulls = false; mp.isNull[r] = true; } else {
        int n = i % 3; mp.offsets[r] = mp.childCount; mp.lengths[r] = n; mp.childCount += n;
        mp.keys.ensureSize(mp.childCount, true); mp.values.ensureSize(mp.childCount, true);
        for (int k = 0; k < n; k++) { int p = (int) mp.offsets[r] + k; ((BytesColumnVector) mp.keys).setVal(p, u("k" + k)); LongColumnVector ch = (LongColumnVector) mp.values; if ((i + k) % 5 == 0) { ch.noNulls = false; ch.isNull[p] = true; } else ch.vector[p] = (long) i << k; }
      }
      StructColumnVector st = (StructColumnVector) batch.cols[24];
      if (nul(i, 24)) { st.noNulls = false; st.isNull[r] = true; } else {
        LongColumnVector x = (LongColumnVector) st.fields[0];
        if (i % 5 == 0) { x.noNulls = false; x.isNull[r] = true; } else x.vector[r] = -i;
        ListColumnVector y = (ListColumnVector) st.fields[1];
        if (i % 7 == 0) { y.noNulls = false; y.isNull[r] = true; } else {
          int n = i % 3; y.offsets[r] = y.childCount; y.lengths[r] = n; y.childCount += n; y.child.ensureSize(y.childCount, true);
          StructColumnVector e = (StructColumnVector) y.child;
          for (ColumnVector f : e.fields) f.ensureSize(y.childCount, true);
          for (int k = 0; k < n; k++) { int p = (int) y.offsets[r] + k;
            if ((i + k) % 8 == 0) { e.noNulls = false; e.isNull[p] = true; continue; }
            ((BytesColumnVector) e.fields[0]).setVal(p, u("e" + (i + k) % 6));
            DoubleColumnVector v = (DoubleColumnVector) e.fields[1];
            if ((i + k) % 9 == 0) { v.noNulls = false; v.isNull[p] = true; } else v.vector[p] = i + k / 4.0; }
        }
      }
      lng(batch, 25, r, 0, true);
      lng(batch, 26, r, i % 3, false);
      str(batch, 27, r, ldt.toString(), false);
      if (batch.size == 1000) { w.addRowBatch(batch); batch.reset(); }
    }
    if (batch.size > 0) w.addRowBatch(batch);
    w.close();
  }
  static void lng(VectorizedRowBatch b, int c, int r, long v, boolean nul) { LongColumnVector x = (LongColumnVector) b.cols[c]; if (nul) { x.noNulls = false; x.isNull[r] = true; } else x.vector[r] = v; }
  static void dbl(VectorizedRowBatch b, int c, int r, double v, boolean nul) { DoubleColumnVector x = (DoubleColumnVector) b.cols[c]; if (nul) { x.noNulls = false; x.isNull[r] = true; } else x.vector[r] = v; }
  static void byts(VectorizedRowBatch b, int c, int r, byte[] v, boolean nul) { BytesColumnVector x = (BytesColumnVector) b.cols[c]; if (nul) { x.noNulls = false; x.isNull[r] = true; } else x.setVal(r, v); }
  static void str(VectorizedRowBatch b, int c, int r, String v, boolean nul) { byts(b, c, r, u(v), nul); }
  static void dec(VectorizedRowBatch b, int c, int r, HiveDecimal v, boolean nul, int scale) {
    ColumnVector x = b.cols[c]; if (nul) { x.noNulls = false; x.isNull[r] = true; return; }
    if (x instanceof Decimal64ColumnVector) ((Decimal64ColumnVector) x).vector[r] = v.bigDecimalValue().setScale(scale).unscaledValue().longValueExact(); else ((DecimalColumnVector) x).set(r, v);
  }
}
