import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AdminError } from '../../src/admin/admin-error.ts'
import { createApi, findApi, SERVER_TOKENS, updateApi } from '../../src/admin/apis.ts'
import { openTestServer } from '../server.ts'

test('of two who change one API at once the second is told, and brings nothing back that the first withdrew', async (t) => {
  const { context } = await openTestServer(t)
  const scope = (name: string) => ({ name, sentence: `May ${name}`, grantedTo: 'users' }) as const
  const resource = 'https://api.example'
  await createApi(context, { resource, name: 'Old', scopes: [scope('read'), scope('admin')], tokens: SERVER_TOKENS })
  const nothing = { name: undefined, scopes: undefined, tokens: undefined }
  const [withdrawn, renamed] = await Promise.allSettled([
    updateApi(context, resource, { ...nothing, scopes: [scope('read')] }),
    updateApi(context, resource, { ...nothing, name: 'New' }),
  ])
  assert.equal(withdrawn.status, 'fulfilled')
  assert.ok(renamed.status === 'rejected' && renamed.reason instanceof AdminError)
  assert.equal(renamed.reason.kind, 'conflict')
  const { name, scopes } = await findApi(context, resource)
  assert.deepEqual([name, scopes.map((one) => one.name)], ['Old', ['read']])
})
