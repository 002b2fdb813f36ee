import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openPlace, run, runJson, serve } from '../../support/process.ts'

test('GRANTOR_ADMIN_TOKEN authenticates commands at a running server, and is not a setting of the server', async (t) => {
  const place = await openPlace(t)
  const made = await runJson<{ readonly token: string; readonly credential_id: string }>(place, [
    'admin',
    'create',
    '--name',
    'Ada elsewhere',
    '--access',
    'write',
  ])
  const environment = { GRANTOR_ADMIN_TOKEN: made.token }
  await serve(place, { environment })
  const elsewhere = await openPlace(t)
  const flags = ['--server', `http://localhost:${place.adminPort}`]
  const created = await run(elsewhere, ['org', 'create', 'Acme', ...flags], { environment })
  assert.deepEqual([created.code, created.stderr], [0, ''], 'Nothing is opened here, so nothing is made.')
  const beside = await run(place, ['org', 'list'], { environment })
  assert.match(beside.stdout, /Acme/)
  const none = await run(elsewhere, ['org', 'list', ...flags])
  assert.deepEqual([none.code, /GRANTOR_ADMIN_TOKEN/.test(none.stderr)], [2, true])
  await run(place, ['admin', 'revoke', made.credential_id])
  const revoked = await run(elsewhere, ['org', 'list', ...flags], { environment })
  assert.equal(revoked.code, 1)
  assert.match(revoked.stderr, /^grantor: The token for this request is missing, invalid, expired or revoked\.\n/)
})
