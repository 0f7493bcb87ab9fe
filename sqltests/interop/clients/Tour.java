import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HexFormat;
import java.util.List;

/** The tour with Connector/J: Tour HOST PORT USER TOUR [prepared], password in TOUR_PASSWORD. */
public class Tour {
    public static void main(String[] args) throws Exception {
        boolean prepared = args.length > 4 && args[4].equals("prepared");
        PrintStream out = new PrintStream(System.out, false, "UTF-8");
        String url = "jdbc:mysql://" + args[0] + ":" + args[1] + "/default?allowPublicKeyRetrieval=true&connectionTimeZone=UTC&useServerPrepStmts=" + prepared;
        List<String> lines = Files.readAllLines(Path.of(args[3]));
        try (Connection connection = DriverManager.getConnection(url, args[2], System.getenv("TOUR_PASSWORD"))) {
            int number = 0;
            for (int i = 0; i + 1 < lines.size(); i++) {
                if (!lines.get(i).startsWith("query ")) {
                    continue;
                }
                String sql = lines.get(i + 1);
                out.println("== " + ++number);
                try {
                    if (prepared) {
                        try (PreparedStatement statement = connection.prepareStatement(sql); ResultSet rows = statement.executeQuery()) {
                            print(out, rows);
                        }
                    } else {
                        try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
                            print(out, rows);
                        }
                    }
                } catch (SQLException e) {
                    out.println("!! " + e.getMessage().replaceAll("\\s+", " "));
                }
            }
        }
        out.flush();
    }

    static void print(PrintStream out, ResultSet rows) throws SQLException {
        int columns = rows.getMetaData().getColumnCount();
        while (rows.next()) {
            StringBuilder line = new StringBuilder();
            for (int i = 1; i <= columns; i++) {
                if (i > 1) {
                    line.append('\t');
                }
                line.append(cell(rows, i));
            }
            out.println(line);
        }
    }

    static String cell(ResultSet rows, int i) throws SQLException {
        Object value = rows.getObject(i);
        if (value == null) {
            return "\\N";
        }
        if (value instanceof byte[] bytes) {
            return HexFormat.of().withUpperCase().formatHex(bytes);
        }
        if (value instanceof BigDecimal decimal) {
            return decimal.toPlainString();
        }
        if (value instanceof Number || value instanceof Boolean) {
            return value.toString();
        }
        // Text and everything with a time: as the driver prints it.
        return rows.getString(i).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r");
    }
}
