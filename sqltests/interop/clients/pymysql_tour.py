"""The tour with PyMySQL: pymysql_tour.py HOST PORT USER TOUR, password in TOUR_PASSWORD."""

import os
import sys

import pymysql

import tour_print

host, port, user, tour = sys.argv[1:5]
connection = pymysql.connect(host=host, port=int(port), user=user, password=os.environ["TOUR_PASSWORD"], database="default", charset="utf8mb4")


def execute(sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


tour_print.run(tour, execute)
connection.close()
