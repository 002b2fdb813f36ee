import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../../src/config/config.ts'

test('the console is where the administration listens, while that is this machine', () => {
  for (const [GRANTOR_ADMIN_HOST, url] of [
    ['localhost', 'http://localhost:3001'],
    ['127.0.0.1', 'http://127.0.0.1:3001'],
    ['::1', 'http://[::1]:3001'],
    ['0.0.0.0', undefined],
  ] as const)
    assert.equal(readConfig({ GRANTOR_ADMIN_HOST }).settings.consoleUrl, url)
})

test("by default the administration listens on the port after the server's", () => {
  assert.equal(readConfig({ PORT: '4000' }).admin?.port, 4001)
  assert.equal(readConfig({ PORT: '4000', GRANTOR_ADMIN_PORT: '9' }).admin?.port, 9)
  assert.throws(() => readConfig({ PORT: '65535' }), /GRANTOR_ADMIN_PORT must be set/)
  assert.equal(readConfig({ PORT: '65535', GRANTOR_ADMIN_PORT: 'off' }).admin, undefined)
})
