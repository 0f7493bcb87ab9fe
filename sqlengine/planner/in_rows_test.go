package planner

import "testing"

func TestInSubqueryUnknown(t *testing.T) {
	s := newTestSession(t, newFakeCatalog())
	for q, want := range map[string]string{
		"1 IN (SELECT 1)":                                               "1",
		"1 IN (SELECT NULL)":                                            "NULL",
		"1 NOT IN (SELECT NULL)":                                        "NULL",
		"1 IN (SELECT 2 UNION SELECT NULL)":                             "NULL",
		"2 IN (SELECT 2 UNION SELECT NULL)":                             "1",
		"NULL IN (SELECT 1)":                                            "NULL",
		"NULL IN (SELECT 1 FROM DUAL WHERE FALSE)":                      "0",
		"NULL NOT IN (SELECT 1 FROM DUAL WHERE FALSE)":                  "1",
		"1.5 IN (SELECT 2)":                                             "0",
		"'1' IN (SELECT 1.0)":                                           "1",
		"'a ' IN (SELECT 'a')":                                          "0",
		"(1, 2) IN (SELECT 1, 2)":                                       "1",
		"(1, 2) IN (SELECT 1, NULL)":                                    "NULL",
		"(1, 2) IN (SELECT 2, NULL)":                                    "0",
		"(1, NULL) IN (SELECT 1, 2)":                                    "NULL",
		"(1, NULL) IN (SELECT 2, 2)":                                    "0",
		"(1, NULL) NOT IN (SELECT 2, 2)":                                "1",
		"(SELECT 1, 2) IN (SELECT 1, 2)":                                "1",
		"(SELECT 1, 2 FROM DUAL WHERE FALSE) IN (SELECT 1, 2)":          "NULL",
		"DATE '2024-01-01' IN (SELECT DATE '2024-01-01')":               "1",
		"DATE '2024-01-01' IN (SELECT TIMESTAMP '2024-01-01 00:00:00')": "1",
		"18446744073709551615 IN (SELECT -1)":                           "0",
		"X'61' IN (SELECT 'a')":                                         "1",
		"JSON_ARRAY(1) IN (SELECT JSON_ARRAY(1))":                       "1",
		"JSON_ARRAY(1) IN (SELECT JSON_ARRAY(2))":                       "0",
	} {
		if got := s.run("SELECT " + q); got[0] != want {
			t.Errorf("%s: got %s, want %s", q, got[0], want)
		}
	}
}

func TestCompareRows(t *testing.T) {
	s := newTestSession(t, newFakeCatalog())
	for q, want := range map[string]string{
		"(1, NULL) = (1, 2)":                "NULL",
		"(2, NULL) = (1, 2)":                "0",
		"(1, 2) <> (1, NULL)":               "NULL",
		"(1, NULL) <=> (1, NULL)":           "1",
		"(1, 2) < (1, 3)":                   "1",
		"(1, 2) < (1, 2)":                   "0",
		"(1, 2) <= (1, 2)":                  "1",
		"(2, 1) > (1, 5)":                   "1",
		"(1, NULL) > (0, 5)":                "1",
		"(1, NULL) > (1, 5)":                "NULL",
		"(1, 2, 3) >= (1, 2, 4)":            "0",
		"(1, (2, 3)) = (1, (2, 3))":         "1",
		"(1, 2) IN ((1, 2), (3, 4))":        "1",
		"(1, 4) IN ((1, 2), (3, 4))":        "0",
		"(1, 2) NOT IN ((1, NULL), (3, 4))": "NULL",
		"('1', 2) IN ((1, 2.0), (3, 4))":    "1",
		"(1, 2) IN ((0 + 1, 2))":            "1",
	} {
		if got := s.run("SELECT " + q); got[0] != want {
			t.Errorf("%s: got %s, want %s", q, got[0], want)
		}
	}
}
