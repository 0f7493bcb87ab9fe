"""The tour with mysql-connector-python: connector_tour.py HOST PORT USER TOUR [prepared] [c], password in TOUR_PASSWORD.

c takes the C extension instead of the pure Python driver.
"""

import os
import sys

import mysql.connector

import tour_print

host, port, user, tour = sys.argv[1:5]
prepared = "prepared" in sys.argv[5:]
pure = "c" not in sys.argv[5:]
connection = mysql.connector.connect(host=host, port=int(port), user=user, password=os.environ["TOUR_PASSWORD"], database="default", use_pure=pure)


def execute(sql):
    cursor = connection.cursor(prepared=prepared)
    try:
        cursor.execute(sql)
        return cursor.fetchall()
    finally:
        cursor.close()


tour_print.run(tour, execute)
connection.close()
