"""The tour with mysql-connector-python: connector_tour.py HOST PORT USER TOUR [prepared], password in TOUR_PASSWORD."""

import os
import sys

import mysql.connector

import tour_print

host, port, user, tour = sys.argv[1:5]
prepared = sys.argv[5:] == ["prepared"]
connection = mysql.connector.connect(host=host, port=int(port), user=user, password=os.environ["TOUR_PASSWORD"], database="default", use_pure=True)


def execute(sql):
    cursor = connection.cursor(prepared=prepared)
    try:
        cursor.execute(sql)
        return cursor.fetchall()
    finally:
        cursor.close()


tour_print.run(tour, execute)
connection.close()
