package errmap

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// textRule maps an error that carries no kind by its text.
type textRule struct {
	match func(msg string) bool
	code  uint16
	state string
	text  func(db, msg string) string
}

var textRules = []textRule{
	{prefix("You have an error in your SQL syntax"), 1064, "42000", nil},
	{prefix("syntax error"), 1064, "42000", syntaxError},
	{prefix("bind variable not provided"), 1210, "HY000", fixed("Incorrect arguments to EXECUTE")},
	{prefix("invalid arguments. expected"), 1210, "HY000", fixed("Incorrect arguments to EXECUTE")},
	{contains("BIGINT UNSIGNED value is out of range"), 1690, "22003", nil},
	{contains("BIGINT value is out of range"), 1690, "22003", nil},
	{contains("DOUBLE value is out of range"), 1690, "22003", nil},
	{contains("DECIMAL value is out of range"), 1690, "22003", nil},
	{prefix("unable to find column with name"), 1054, "42S22", nil},
	{prefix("column ordinal out of range"), 1054, "42S22", nil},
	{prefix("incorrect parameter count in the call to native function"), 1582, "42000", func(_, m string) string { return upperFirst(m) }},
	{prefix("the subquery returned more than 1 row"), 1242, "21000", fixed("Subquery returns more than 1 row")},
	{contains("is not supported yet"), 1235, "42000", nil},
	{contains("not yet supported"), 1235, "42000", nil},
	{prefix("local_infile needs to be set"), 3948, "42000",
		fixed("Loading local data is disabled; this must be enabled on both the client and server sides")},
	{prefix("limit expression expected to be numeric"), 1210, "HY000", fixed("Incorrect arguments to LIMIT")},
}

func prefix(p string) func(string) bool {
	return func(msg string) bool { return strings.HasPrefix(msg, p) }
}

func contains(p string) func(string) bool {
	return func(msg string) bool { return strings.Contains(msg, p) }
}

func fixed(text string) func(db, msg string) string {
	return func(string, string) string { return text }
}

// unknownVariable names the variable alone, without @@ and scope.
func unknownVariable(_, msg string) string {
	name := strings.TrimLeft(quoted(msg), "@")
	for _, scope := range []string{"session.", "global.", "local.", "persist.", "persist_only."} {
		if len(name) > len(scope) && strings.EqualFold(name[:len(scope)], scope) {
			name = name[len(scope):]
		}
	}
	return "Unknown system variable '" + name + "'"
}

// setValue is the complaint about a value of sql_mode, the only SET whose values clients choose.
func setValue(_, msg string) string {
	value := strings.TrimSuffix(strings.TrimPrefix(msg, "value "), " was not found in the set")
	return "Variable 'sql_mode' can't be set to the value of '" + value + "'"
}

// notView repairs a message of go-mysql-server that shows its format.
func notView(db, msg string) string {
	name := quoted(msg)
	if _, rest, ok := strings.Cut(msg, "(string="); ok {
		name, _, _ = strings.Cut(rest, ")")
	}
	if db != "" && !strings.Contains(name, ".") {
		name = db + "." + name
	}
	return "'" + name + "' is not VIEW"
}

// quoted returns what stands in the first pair of quotes of msg, msg where there is none.
func quoted(msg string) string {
	i := strings.IndexAny(msg, "'\"`")
	if i < 0 {
		return msg
	}
	rest := msg[i+1:]
	if j := strings.IndexByte(rest, msg[i]); j >= 0 {
		return rest[:j]
	}
	return rest
}

// afterColon returns what follows the first ": ".
func afterColon(msg string) string {
	if _, after, ok := strings.Cut(msg, ": "); ok {
		return after
	}
	return msg
}

func upperFirst(msg string) string {
	r, n := utf8.DecodeRuneInString(msg)
	return string(unicode.ToUpper(r)) + msg[n:]
}

// tableMissing makes "Table 'db.t' doesn't exist".
func tableMissing(db, msg string) string {
	name, hint, hinted := strings.Cut(afterColon(msg), ", maybe you mean ")
	if db != "" && !strings.Contains(name, ".") {
		name = db + "." + name
	}
	out := "Table '" + name + "' doesn't exist"
	if hinted {
		out += " (maybe you mean " + hint + ")"
	}
	return out
}

// unknownColumn makes "Unknown column 't.c' in 'field list'".
func unknownColumn(_, msg string) string {
	name := quoted(msg)
	if rest, ok := strings.CutPrefix(msg, "table "); ok {
		if _, col, ok := strings.Cut(rest, " does not have column "); ok {
			name += "." + quoted(col)
		}
	}
	return "Unknown column '" + name + "' in 'field list'"
}

func ambiguous(clause string) func(db, msg string) string {
	return func(_, msg string) string { return "Column '" + quoted(msg) + "' in " + clause + " is ambiguous" }
}

func functionMissing(db, msg string) string {
	name := quoted(msg)
	if db != "" && !strings.Contains(name, ".") {
		name = db + "." + name
	}
	return "FUNCTION " + name + " does not exist"
}

// operandColumns makes "Operand should contain N column(s)".
func operandColumns(_, msg string) string {
	if i := strings.IndexFunc(msg, unicode.IsDigit); i >= 0 {
		n := msg[i:]
		if j := strings.IndexFunc(n, func(r rune) bool { return !unicode.IsDigit(r) }); j >= 0 {
			n = n[:j]
		}
		return "Operand should contain " + n + " column(s)"
	}
	return msg
}

func notGrouped(_, msg string) string {
	return "Expression of SELECT list is not in GROUP BY clause and contains nonaggregated column '" + quoted(msg) +
		"' which is not functionally dependent on columns in GROUP BY clause; this is incompatible with sql_mode=only_full_group_by"
}

func duplicateEntry(_, msg string) string {
	key := strings.Trim(strings.TrimSpace(msg[strings.LastIndex(msg, "given")+len("given"):]), ": []")
	return "Duplicate entry '" + key + "' for key 'PRIMARY'"
}

// syntaxError rewrites the vitess parser's text, "syntax error at position 15 near 'x'".
func syntaxError(_, msg string) string {
	if strings.HasPrefix(msg, "You have an error in your SQL syntax") {
		return msg
	}
	near := ""
	if i := strings.LastIndex(msg, " near '"); i >= 0 {
		near = strings.TrimSuffix(msg[i+len(" near '"):], "'")
	} else if !strings.HasPrefix(msg, "syntax error") {
		return msg
	}
	return "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near '" +
		near + "' at line 1"
}

// states holds the SQLSTATEs that are not HY000, of the numbers that reach a client.
var states = map[uint16]string{
	1022: "23000", 1037: "HY001", 1038: "HY001", 1040: "08004", 1042: "08S01", 1043: "08S01", 1044: "42000",
	1045: "28000", 1046: "3D000", 1047: "08S01", 1048: "23000", 1049: "42000", 1050: "42S01", 1051: "42S02",
	1052: "23000", 1053: "08S01", 1054: "42S22", 1055: "42000", 1056: "42000", 1057: "42000", 1058: "21S01",
	1059: "42000", 1060: "42S21", 1061: "42000", 1062: "23000", 1063: "42000", 1064: "42000", 1065: "42000",
	1066: "42000", 1067: "42000", 1068: "42000", 1069: "42000", 1070: "42000", 1071: "42000", 1072: "42000",
	1073: "42000", 1074: "42000", 1075: "42000", 1080: "08S01", 1081: "08S01", 1082: "42S12", 1083: "42000",
	1084: "42000", 1090: "42000", 1091: "42000", 1101: "42000", 1102: "42000", 1103: "42000", 1104: "42000",
	1106: "42000", 1107: "42000", 1109: "42S02", 1110: "42000", 1112: "42000", 1113: "42000", 1115: "42000",
	1118: "42000", 1120: "42000", 1121: "42000", 1131: "42000", 1132: "42000", 1133: "42000", 1136: "21S01",
	1138: "22004", 1139: "42000", 1140: "42000", 1141: "42000", 1142: "42000", 1143: "42000", 1144: "42000",
	1145: "42000", 1146: "42S02", 1147: "42000", 1148: "42000", 1149: "42000", 1152: "08S01", 1153: "08S01",
	1154: "08S01", 1155: "08S01", 1156: "08S01", 1157: "08S01", 1158: "08S01", 1159: "08S01", 1160: "08S01",
	1161: "08S01", 1162: "42000", 1163: "42000", 1164: "42000", 1166: "42000", 1167: "42000", 1169: "23000",
	1170: "42000", 1171: "42000", 1172: "42000", 1173: "42000", 1176: "42000", 1177: "42000", 1178: "42000",
	1179: "25000", 1184: "08S01", 1189: "08S01", 1190: "08S01", 1203: "42000", 1207: "25000", 1211: "42000",
	1213: "40001", 1216: "23000", 1217: "23000", 1218: "08S01", 1222: "21000", 1226: "42000", 1227: "42000",
	1230: "42000", 1231: "42000", 1232: "42000", 1234: "42000", 1235: "42000", 1239: "42000", 1241: "21000",
	1242: "21000", 1247: "42S22", 1248: "42000", 1249: "01000", 1250: "42000", 1251: "08004", 1252: "42000",
	1253: "42000", 1261: "01000", 1262: "01000", 1263: "22004", 1264: "22003", 1265: "01000", 1280: "42000",
	1281: "42000", 1286: "42000", 1292: "22007", 1303: "2F003", 1304: "42000", 1305: "42000", 1308: "42000",
	1309: "42000", 1310: "42000", 1311: "01000", 1312: "0A000", 1313: "42000", 1314: "0A000", 1315: "42000",
	1317: "70100", 1318: "42000", 1319: "42000", 1320: "42000", 1321: "2F005", 1322: "42000", 1323: "42000",
	1324: "42000", 1325: "24000", 1326: "24000", 1327: "42000", 1329: "02000", 1330: "42000", 1331: "42000",
	1332: "42000", 1333: "42000", 1335: "0A000", 1336: "0A000", 1337: "42000", 1338: "42000", 1339: "20000",
	1365: "22012", 1367: "22007", 1370: "42000", 1397: "XAE04", 1403: "42000", 1406: "22001", 1407: "42000",
	1410: "42000", 1413: "42000", 1414: "42000", 1415: "0A000", 1425: "42000", 1426: "42000", 1427: "42000",
	1437: "42000", 1439: "42000", 1440: "XAE08", 1441: "22008", 1451: "23000", 1452: "23000", 1453: "42000",
	1458: "42000", 1460: "42000", 1461: "42000", 1462: "HY000", 1463: "42000", 1557: "23000", 1568: "25001",
	1582: "42000", 1583: "42000", 1584: "42000", 1586: "23000", 1630: "42000", 1641: "42000", 1645: "45000",
	1687: "42000", 1690: "22003", 1701: "42000", 1758: "35000", 1792: "25006", 1859: "23000", 1873: "28000",
	3020: "2201E", 3037: "22023", 3140: "22032", 3141: "22032", 3146: "22032", 3158: "22032",
}

func stateOf(code uint16) string {
	if s, ok := states[code]; ok {
		return s
	}
	return "HY000"
}
