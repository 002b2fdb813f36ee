import assert from 'node:assert/strict'
import { test } from 'node:test'
import { normalizeEmail } from '../../src/protocol/sign-in/email-address.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import type { UserId } from '../../src/protocol/ids.ts'
import { firstSignInOf } from '../../src/protocol/sign-in/account.ts'
import { base32 } from '../../src/protocol/sign-in/totp.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { aSession, aSessionStart } from '../support/records.ts'
import { openTestServer } from '../support/server.ts'
import { HASH_VECTORS } from '../support/sign-in/hash-vectors.ts'
import { perform } from '../support/tasks.ts'
import { aUserLine, importFile, outcomesOf, writeRecords } from './importing.ts'

/** What a later import of an account does, and says. */

const BCRYPT = HASH_VECTORS[0]?.text ?? ''
const SECRET = Buffer.from('a secret of an app, 24 b')
const server = await openTestServer(WHOLE_FILE)
const { context } = server
const { store } = context

const find = (id: string) => store.findUser(id as UserId)

test('IMP-07: --update leaves an account alone that was used, disabled, changed or guarded here', async (t) => {
  const ids = ['t-1', 't-2', 't-3', 't-4', 't-5']
  const line = (name: string) =>
    writeRecords(
      t,
      ids.map((id) => aUserLine(id, { name, password_hash: BCRYPT })),
    )
  await importFile(t, server, line('Ada'))
  const [used, disabled, set, moved, guarded] = ids as [UserId, UserId, UserId, UserId, UserId]
  const now = context.clock()
  await store.disableUser({ id: disabled, now })
  await store.setPassword({
    id: set,
    passwordHash: await context.passwords.hash('another long one', undefined),
    now,
    mails: [],
  })
  const address = { email: normalizeEmail('moved@acme.test'), emailVerifiedAt: now }
  await store.setEmail({ id: moved, ...address, now: (now + 1) as EpochMs, mails: [] })
  await store.startSession(aSessionStart({ session: aSession({ userId: used, createdAt: now }), passwordHash: BCRYPT }))
  assert.notEqual(firstSignInOf((await find(used)) ?? { firstSignedInAt: undefined }), undefined)
  await perform(context, 'group.create', { group_id: 'cluster-admins', protected: true })
  await perform(context, 'group.add-member', { group_id: 'cluster-admins', user_id: guarded })
  const before = await Promise.all(ids.map(find))
  for (const isDryRun of [true, false]) {
    const result = await importFile(t, server, line('Grace'), { isUpdate: true, isDryRun })
    assert.deepEqual(outcomesOf(result), ['differs', 'differs', 'differs', 'differs', 'differs'])
    assert.deepEqual(
      result.report.map(({ detail }) => detail),
      ['name', 'name, disabled', 'name, password_hash', 'email, email_verified, name', 'name'],
    )
  }
  assert.deepEqual(await Promise.all(ids.map(find)), before)
})

test('IMP-14: --update gives back no membership and no app that an administrator removed, and the dry run says which', async (t) => {
  const ids = ['v-1', 'v-2', 'v-3'] as const
  const totp = { secret: base32(SECRET) }
  const file = writeRecords(t, [
    { type: 'organization', id: 'v-acme', name: 'Acme' },
    ...ids.map((id) => aUserLine(id, { totp, organizations: ['v-acme'] })),
  ])
  await importFile(t, server, file)
  await perform(context, 'member.remove', { organization_id: 'v-acme', user_id: 'v-1' })
  await perform(context, 'user.reset-second-factor', { user_id: 'v-2' })
  for (const isDryRun of [true, false]) {
    const { report } = await importFile(t, server, file, { isUpdate: true, isDryRun })
    assert.deepEqual(
      report.map(({ outcome, detail }) => [outcome, detail]),
      [
        ['same', undefined],
        ['differs', 'organizations'],
        ['differs', 'totp'],
        ['same', undefined],
      ],
    )
  }
  assert.deepEqual(await store.listMemberships('v-1' as UserId), [])
  assert.equal(await store.findSecondFactor('v-2' as UserId), undefined)
})

test('the report names each member that differs or was changed, and has no value of one', async (t) => {
  const client = { type: 'client', client_id: 'd-board', client_name: 'Board', redirect_uris: ['https://d.example/cb'] }
  await importFile(
    t,
    server,
    writeRecords(t, [
      { type: 'organization', id: 'd-acme', name: 'Acme' },
      aUserLine('d-1', { password_hash: BCRYPT, profile: { given_name: 'Ada', nickname: 'a' } }),
      { ...client, client_secret: 'oW9vQ2lBvYh8kq0sS3nE' },
    ]),
  )
  const values = {
    email: 'values-of-email@acme.test',
    email_verified: true,
    name: 'value of name',
    password_hash: HASH_VECTORS[1]?.text,
    profile: { given_name: 'Ada', family_name: 'value of family name' },
    totp: { secret: base32(SECRET) },
    identities: [{ provider: 'delegate', subject: 'value-of-subject' }],
    organizations: ['d-acme'],
    disabled: true,
  }
  const newer = writeRecords(t, [
    { type: 'organization', id: 'd-acme', name: 'value of organization' },
    aUserLine('d-1', values),
    { ...client, client_name: 'value of client', client_secret: 'valueOfSecretValueOf', rules: { pkce: 'required' } },
  ])
  const all =
    'email, email_verified, name, password_hash, disabled, totp, profile.nickname, profile.family_name, identities, organizations'
  for (const [isUpdate, isDryRun, outcome] of [
    [false, true, 'differs'],
    [false, false, 'differs'],
    [true, true, 'updated'],
    [true, false, 'updated'],
  ] as const) {
    const { report, text } = await importFile(t, server, newer, { isUpdate, isDryRun })
    assert.deepEqual(
      report.map((line) => [line.outcome, line.detail]),
      [
        ['differs', 'name'],
        [outcome, all],
        ['differs', 'client_name, rules.pkce, client_secret'],
      ],
    )
    for (const value of ['value', base32(SECRET), BCRYPT, values.password_hash ?? ''])
      assert.ok(!text.includes(value), value)
  }
})
