import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

/**
 * Answers SQL over standard input with Apache Paimon on Flink, in batch mode: FlinkPeer THREADS WAREHOUSE DATABASE RELEASE
 *
 * One JSON object per line, in and out: {"sql": ...} gives {"seconds": ..., "rows": [[text, ...], ...]} or {"error": ...}. The
 * cluster is in this process and stays up, so that no statement but the first pays for the start of anything.
 */
public class FlinkPeer {
    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        int threads = Integer.parseInt(args[0]);
        Configuration cluster = new Configuration();
        cluster.setString("rest.address", "localhost");
        cluster.setString("rest.port", "0");
        cluster.setString("rest.bind-port", "0");
        cluster.setString("taskmanager.memory.network.min", "128mb");
        cluster.setString("taskmanager.memory.network.max", "128mb");
        cluster.setString("taskmanager.memory.managed.size", "512m");
        cluster.setString("web.submit.enable", "false");
        MiniCluster mini = new MiniCluster(new MiniClusterConfiguration.Builder()
                .setConfiguration(cluster).setNumTaskManagers(1).setNumSlotsPerTaskManager(2 * threads).build());
        mini.start();
        Configuration conf = new Configuration();
        conf.setString("execution.target", "remote");
        conf.setString("rest.address", "localhost");
        conf.setString("rest.port", String.valueOf(mini.getRestAddress().get().getPort()));
        conf.setString("rest.bind-port", "0");
        conf.setString("execution.runtime-mode", "batch");
        conf.setString("parallelism.default", String.valueOf(threads));
        conf.setString("table.local-time-zone", "UTC");
        conf.setString("table.dml-sync", "true");
        TableEnvironment env = TableEnvironment.create(EnvironmentSettings.newInstance().inBatchMode().withConfiguration(conf).build());
        env.executeSql("CREATE CATALOG lake WITH ('type' = 'paimon', 'warehouse' = '" + args[1] + "', 'cache-enabled' = 'false')");
        env.executeSql("USE CATALOG lake");
        env.executeSql("USE `" + args[2] + "`");
        ObjectMapper json = new ObjectMapper();
        out.println(json.writeValueAsString(Map.of("version", args[3])));
        out.flush();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; ) {
            Map<String, Object> answer = new LinkedHashMap<>();
            try {
                String sql = json.readTree(line).get("sql").asText();
                long start = System.nanoTime();
                List<List<String>> rows = new ArrayList<>();
                try (CloseableIterator<Row> it = env.executeSql(sql).collect()) {
                    while (it.hasNext()) {
                        Row row = it.next();
                        List<String> cells = new ArrayList<>();
                        for (int i = 0; i < row.getArity(); i++) {
                            cells.add(String.valueOf(row.getField(i)));
                        }
                        rows.add(cells);
                    }
                }
                answer.put("seconds", (System.nanoTime() - start) / 1e9);
                answer.put("rows", rows);
            } catch (Throwable e) {
                Throwable root = e;
                while (root.getCause() != null) {
                    root = root.getCause();
                }
                answer.clear();
                answer.put("error", String.valueOf(root.getMessage()));
            }
            out.println(json.writeValueAsString(answer));
            out.flush();
        }
        System.exit(0);
    }
}
