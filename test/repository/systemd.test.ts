import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

/** The settings of a unit that take rights away. */
function confinementOf(unit: string): readonly string[] {
  const lines = readFileSync(`deploy/systemd/${unit}`, 'utf8').split('\n')
  return lines.filter((line) => /^(NoNew|Capability|Protect|Private|Restrict|Lock|SystemCall|UMask)\w*=/.test(line))
}

test('the unit of the backup, which reads the same database and secret, is confined as the server is', () => {
  const server = confinementOf('grantor.service')
  assert.ok(server.length > 20)
  assert.deepEqual(confinementOf('grantor-backup.service'), server)
})
