import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.MultisetType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

/**
 * Apache Paimon behind a line protocol: PaimonShell WAREHOUSE.
 *
 * Each line of standard input is one Flink SQL statement, with \n and \\ as escapes. The answer is a line
 * "| cells" for each row, then "OK" or "ERROR message". Cells are printed as the script runner's format has them.
 */
public class PaimonShell {
    private static final String MARK = "\u0001";

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        Configuration cluster = new Configuration();
        cluster.setString("rest.address", "localhost");
        cluster.setString("rest.port", "0");
        cluster.setString("rest.bind-port", "0");
        cluster.setString("taskmanager.memory.network.min", "64mb");
        cluster.setString("taskmanager.memory.network.max", "64mb");
        cluster.setString("taskmanager.memory.managed.size", "256m");
        cluster.setString("web.submit.enable", "false");
        MiniCluster mini = new MiniCluster(new MiniClusterConfiguration.Builder()
                .setConfiguration(cluster).setNumTaskManagers(1).setNumSlotsPerTaskManager(8).build());
        mini.start();
        Configuration conf = new Configuration();
        conf.setString("execution.target", "remote");
        conf.setString("rest.address", "localhost");
        conf.setString("rest.port", String.valueOf(mini.getRestAddress().get().getPort()));
        conf.setString("rest.bind-port", "0");
        conf.setString("execution.runtime-mode", "batch");
        conf.setString("parallelism.default", "2");
        conf.setString("table.local-time-zone", "UTC");
        conf.setString("table.dml-sync", "true");
        TableEnvironment env = TableEnvironment.create(EnvironmentSettings.newInstance().inBatchMode().withConfiguration(conf).build());
        env.executeSql("CREATE CATALOG lake WITH ('type' = 'paimon', 'warehouse' = '" + args[0] + "', 'cache-enabled' = 'false')");
        env.executeSql("USE CATALOG lake");
        out.println("READY");
        out.flush();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; ) {
            String sql = line.replace("\\\\", MARK).replace("\\n", "\n").replace(MARK, "\\");
            try {
                for (String row : run(env, sql)) {
                    out.println("| " + row);
                }
                out.println("OK");
            } catch (Throwable e) {
                out.println("ERROR " + message(e));
            }
            out.flush();
        }
        System.exit(0);
    }

    private static List<String> run(TableEnvironment env, String sql) throws Exception {
        TableResult result = env.executeSql(sql);
        List<DataType> types = result.getResolvedSchema().getColumnDataTypes();
        List<String> rows = new ArrayList<>();
        try (CloseableIterator<Row> it = result.collect()) {
            while (it.hasNext()) {
                Row row = it.next();
                List<String> cells = new ArrayList<>();
                for (int i = 0; i < row.getArity(); i++) {
                    cells.add(cell(row.getField(i), types.get(i).getLogicalType()));
                }
                rows.add(String.join("\t", cells));
            }
        }
        return rows;
    }

    private static String message(Throwable e) {
        StringBuilder text = new StringBuilder();
        for (Throwable x = e; x != null; x = x.getCause()) {
            text.append(text.isEmpty() ? "" : " <- ").append(x.getMessage());
        }
        String line = text.toString().replace('\n', ' ');
        return line.length() > 600 ? line.substring(0, 600) + "…" : line;
    }

    private static String cell(Object value, LogicalType type) {
        if (value == null) {
            return "NULL";
        }
        String text;
        if (value instanceof byte[] bytes) {
            text = HexFormat.of().withUpperCase().formatHex(bytes);
        } else if (value instanceof Row || value instanceof Map || value.getClass().isArray()) {
            text = json(value, type);
        } else {
            text = plain(value);
        }
        if (text.isEmpty()) {
            return "(empty)";
        }
        return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r");
    }

    private static String plain(Object value) {
        if (value instanceof LocalDateTime t) {
            return dateTime(t);
        }
        if (value instanceof Instant t) {
            return dateTime(LocalDateTime.ofInstant(t, ZoneOffset.UTC));
        }
        if (value instanceof LocalTime t) {
            return time(t);
        }
        if (value instanceof BigDecimal d) {
            return d.toPlainString();
        }
        return value.toString();
    }

    private static String dateTime(LocalDateTime t) {
        return String.format("%04d-%02d-%02d %s", t.getYear(), t.getMonthValue(), t.getDayOfMonth(), time(t.toLocalTime()));
    }

    private static String time(LocalTime t) {
        String text = String.format("%02d:%02d:%02d", t.getHour(), t.getMinute(), t.getSecond());
        int micros = t.getNano() / 1000;
        return micros == 0 ? text : text + String.format(".%06d", micros).replaceAll("0+$", "");
    }

    /** A nested value as a MySQL client sees it: ROW, MAP and MULTISET are objects, bytes are base64. */
    private static String json(Object value, LogicalType type) {
        if (value == null) {
            return "null";
        }
        List<LogicalType> children = type.getChildren();
        if (value instanceof Boolean || value instanceof Number) {
            return plain(value);
        }
        if (value instanceof byte[] bytes) {
            return quote(Base64.getEncoder().encodeToString(bytes));
        }
        List<String> parts = new ArrayList<>();
        if (value instanceof Row row) {
            List<String> names = ((RowType) type).getFieldNames();
            for (int i = 0; i < row.getArity(); i++) {
                parts.add(quote(names.get(i)) + ": " + json(row.getField(i), children.get(i)));
            }
            return "{" + String.join(", ", parts) + "}";
        }
        if (value instanceof Map<?, ?> map) {
            TreeMap<String, String> sorted = new TreeMap<>();
            for (Map.Entry<?, ?> e : map.entrySet()) {
                Object key = e.getKey();
                String name = key instanceof byte[] bytes ? Base64.getEncoder().encodeToString(bytes) : plain(key);
                sorted.put(name, type instanceof MultisetType ? e.getValue().toString() : json(e.getValue(), children.get(1)));
            }
            sorted.forEach((k, v) -> parts.add(quote(k) + ": " + v));
            return "{" + String.join(", ", parts) + "}";
        }
        if (value.getClass().isArray()) {
            for (int i = 0; i < java.lang.reflect.Array.getLength(value); i++) {
                parts.add(json(java.lang.reflect.Array.get(value, i), children.get(0)));
            }
            return "[" + String.join(", ", parts) + "]";
        }
        return quote(plain(value));
    }

    private static String quote(String text) {
        StringBuilder b = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                b.append('\\').append(c);
            } else if (c < 0x20) {
                b.append(String.format("\\u%04x", (int) c));
            } else {
                b.append(c);
            }
        }
        return b.append('"').toString();
    }
}
