import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../support/server.ts'

/** Writes lines to the file that is named, and prints how many were written without an error. */
const WRITE = `
  import { openOutput } from ${JSON.stringify(new URL('../../src/import/report.ts', import.meta.url).href)}
  const file = openOutput(process.argv[1], 1)
  let count = 0
  try {
    for (; count < 50; count += 1) file.write({ client_id: 'board', client_secret: 'x'.repeat(43) })
  } finally {
    console.log(count)
  }`

test('a line that the disk has no space for is an error, and no part of a line is taken for a line', (t) => {
  const path = join(temporaryFolder(t), 'secrets')
  const words = [process.execPath, '--input-type=module', '--eval', WRITE, path]
  const { status, stdout, stderr } = spawnSync('sh', ['-c', 'ulimit -f 1; exec "$0" "$@"', ...words], {
    encoding: 'utf8',
  })
  const whole = readFileSync(path, 'utf8').match(/\}\n/g)?.length ?? 0
  assert.notEqual(status, 0)
  assert.match(stderr, /EFBIG/)
  assert.ok(whole > 0)
  assert.equal(Number(stdout), whole)
})
