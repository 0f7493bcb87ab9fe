import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.exec.vector.*;
import org.apache.orc.*;
import java.nio.charset.StandardCharsets;
import java.sql.Timestamp;
import java.time.*;
import java.util.*;

// Date-times as Paimon's writer stores them: ts from its text, lz (legacy) from the UTC text of the instant.
public class OrcZones {
  public static void main(String[] a) throws Exception {
    Random R = new Random(11);
    int rows = Integer.parseInt(a[1]);
    Configuration c = new Configuration();
    c.set("fs.file.impl", "org.apache.hadoop.fs.RawLocalFileSystem");
    TypeDescription t = TypeDescription.fromString("struct<ts:timestamp,lz:timestamp with local time zone,txt:string>");
    Writer w = OrcFile.createWriter(new Path(a[0]), OrcFile.writerOptions(c).setSchema(t).overwrite(true).compress(CompressionKind.ZSTD).rowIndexStride(1000).bufferSize(4096).enforceBufferSize());
    VectorizedRowBatch b = t.createRowBatch(1000);
    for (int i = 0; i < rows; i++) {
      LocalDateTime l;
      switch (i % 4) {
        case 0: l = LocalDateTime.of(1583, 1, 1, 0, 0).plusSeconds((long) (R.nextDouble() * 320L * 365 * 86400)); break;
        case 1: l = LocalDateTime.of(1899, 12, 1, 0, 0).plusSeconds((long) (R.nextDouble() * 70L * 365 * 86400)); break;
        case 2: l = LocalDateTime.of(1971, 1, 1, 0, 0).plusSeconds((long) (R.nextDouble() * 60L * 365 * 86400)); break;
        default: l = LocalDateTime.of(1896 + i % 40 , 1, 1, 0, 0).plusHours(i % 9000).plusMinutes(R.nextInt(60));
      }
      if (i % 3 == 1) l = l.plusNanos(R.nextInt(1000000) * 1000L); else if (i % 3 == 2) l = l.plusNanos(R.nextInt(1000) * 1000000L);
      Timestamp ts = Timestamp.valueOf(l);
      while (!ts.toLocalDateTime().equals(l)) { l = l.plusHours(3); ts = Timestamp.valueOf(l); }
      int r = b.size++;
      ((TimestampColumnVector) b.cols[0]).set(r, ts);
      ((TimestampColumnVector) b.cols[1]).set(r, ts);
      ((BytesColumnVector) b.cols[2]).setVal(r, l.toString().getBytes(StandardCharsets.UTF_8));
      if (b.size == 1000) { w.addRowBatch(b); b.reset(); }
    }
    if (b.size > 0) w.addRowBatch(b);
    w.close();
  }
}
