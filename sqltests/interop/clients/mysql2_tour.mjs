// The tour with Node's mysql2: mysql2_tour.mjs HOST PORT USER TOUR [prepared], password in TOUR_PASSWORD.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

// The package lives in the cache folder of run.sh, not beside this file.
const mysql = createRequire(process.env.TOUR_NODE_HOME + '/')('mysql2/promise');

const [host, port, user, tour, mode] = process.argv.slice(2);

function cell(value) {
  if (value === null) return '\\N';
  if (Buffer.isBuffer(value)) return value.toString('hex').toUpperCase();
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
}

const connection = await mysql.createConnection({
  host, port: Number(port), user, password: process.env.TOUR_PASSWORD, database: 'default', charset: 'utf8mb4',
  rowsAsArray: true, dateStrings: true, supportBigNumbers: true,
});
const lines = readFileSync(tour, 'utf8').split('\n');
let number = 0;
for (let i = 0; i + 1 < lines.length; i++) {
  if (!lines[i].startsWith('query ')) continue;
  console.log(`== ${++number}`);
  try {
    const [rows] = mode === 'prepared' ? await connection.execute(lines[i + 1]) : await connection.query(lines[i + 1]);
    for (const row of rows) console.log(row.map(cell).join('\t'));
  } catch (error) {
    console.log(`!! ${String(error.message).replace(/\s+/g, ' ')}`);
  }
}
await connection.end();
