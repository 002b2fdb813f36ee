import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { NEUTRAL } from '../../src/import/sources/neutral.ts'
import type { SourceFiles } from '../../src/import/source.ts'
import type { OrganizationId, UserId } from '../../src/protocol/ids.ts'
import type { ProviderId } from '../../src/protocol/sign-in/authentication.ts'
import { IMPORTED } from '../../src/protocol/sign-in/account.ts'
import { subjectKey } from '../../src/protocol/sign-in/interaction.ts'
import { identityKey } from '../../src/protocol/sign-in/provider-identity.ts'
import { base32, secretName } from '../../src/protocol/sign-in/totp.ts'
import { eventsOf, listLinks } from '../store/contract/chains.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { anIdentity } from '../support/provider/provider-records.ts'
import { addProvider } from '../support/provider/providers.ts'
import { HASH_VECTORS } from '../support/sign-in/hash-vectors.ts'
import { dumpStore, type Dump } from '../support/store/dump.ts'
import { openTestServer } from '../support/server.ts'
import { perform } from '../support/tasks.ts'
import { aUserLine, importFile, outcomesOf, writeRecords } from './importing.ts'

const BCRYPT = HASH_VECTORS[0]?.text ?? ''
const SECRET = Buffer.from('a secret of an app, 24 b')
const server = await openTestServer(WHOLE_FILE)
const { context } = server
const { store } = context

/** Without the settings, which have times. */
function recordsOf(dump: Dump): Dump {
  return { ...dump, settings: [] }
}

const find = (id: string) => store.findUser(id as UserId)

test('a line becomes a user with the id, the hash, the app, the identities and the organizations that it names', async (t) => {
  const { id: provider, settings } = await addProvider(server, { issuer: 'https://idp.example' })
  const { counts, report } = await importFile(
    t,
    server,
    writeRecords(t, [
      { type: 'organization', id: 'acme', name: 'Acme' },
      aUserLine('u-1', {
        email: ' Ada@ACME.test ',
        email_verified: true,
        name: 'Ada',
        password_hash: BCRYPT,
        profile: { given_name: 'Ada', address: { country: 'GB' } },
        totp: { secret: base32(SECRET) },
        identities: [
          { provider: 'there', subject: '1093' },
          { provider: 'delegate', subject: 'ada-1' },
        ],
        organizations: ['acme'],
      }),
      aUserLine('u-2', { disabled: true }),
    ]),
    { providers: new Map([['there', provider]]) },
  )
  assert.deepEqual(counts.kinds, { organization: { created: 1 }, group: {}, user: { created: 2 }, client: {} })
  const user = await find('u-1')
  assert.partialDeepStrictEqual(user, {
    email: 'ada@acme.test',
    name: 'Ada',
    passwordHash: BCRYPT,
    firstSignedInAt: IMPORTED,
    disabledAt: undefined,
    profile: { given_name: 'Ada', address: { country: 'GB' } },
  })
  assert.notEqual(user?.emailVerifiedAt, undefined)
  assert.deepEqual(
    new Set((await store.listIdentities('u-1' as UserId)).map(({ key }) => key)),
    new Set([identityKey({ id: provider, issuer: settings.issuer }, '1093'), subjectKey('ada-1')]),
  )
  assert.equal((await store.listMemberships('u-1' as UserId))[0]?.organizationId, 'acme')
  const app = await store.findSecondFactor('u-1' as UserId)
  assert.deepEqual(context.encryption.decrypt(secretName('u-1' as UserId), app?.secret ?? ''), SECRET)
  assert.partialDeepStrictEqual(report[2], { line: 3, id: 'u-2', outcome: 'created', reason: null })
  assert.notEqual((await find('u-2'))?.disabledAt, undefined)
  // Failed sign-ins are delayed from now on.
  assert.match((await store.findPasswordFormats()) ?? '', /\$2b\$04/)
  const { first_signed_in_at: first } = await perform(context, 'user.show', { user_id: 'u-1' })
  assert.equal(first, null)
  const { purpose } = await perform(context, 'user.create-link', { user_id: 'u-2' }).catch(() => ({ purpose: 'none' }))
  assert.ok(['none', 'invitation'].includes(String(purpose)))
})

test('IMP-06: a second run changes nothing, and neither does a dry run', async (t) => {
  const file = writeRecords(t, [
    { type: 'organization', id: 'globex', name: 'Globex' },
    aUserLine('r-1', { password_hash: BCRYPT, totp: { secret: base32(SECRET) }, organizations: ['globex'] }),
    aUserLine('r@2', { email: 'r2@acme.test' }),
    {
      type: 'client',
      client_id: 'r-board',
      client_name: 'Board',
      redirect_uris: ['https://board.example/cb'],
      client_secret: 'oW9vQ2lBvYh8kq0sS3nE',
    },
  ])
  const empty = dumpStore(server)
  const dry = await importFile(t, server, file, { isDryRun: true })
  assert.deepEqual(outcomesOf(dry), ['created', 'created', 'created id_replaced needs_link', 'created'])
  assert.deepEqual(dumpStore(server), empty)
  assert.deepEqual(outcomesOf(await importFile(t, server, file)), outcomesOf(dry))
  const made = recordsOf(dumpStore(server))
  for (const isDryRun of [false, true]) {
    const again = await importFile(t, server, file, { isDryRun })
    assert.deepEqual(outcomesOf(again), ['same', 'same', 'same id_replaced needs_link', 'same'])
    assert.deepEqual(recordsOf(dumpStore(server)), made)
  }
  const newer = writeRecords(t, [aUserLine('r-1', { password_hash: BCRYPT, name: 'Ada' })])
  for (const [isDryRun, isUpdate, outcome] of [
    [false, false, 'differs'],
    [true, true, 'updated'],
    [false, true, 'updated'],
    [false, true, 'same'],
  ] as const)
    assert.deepEqual(outcomesOf(await importFile(t, server, newer, { isDryRun, isUpdate })), [outcome])
  assert.equal((await find('r-1'))?.name, 'Ada')
})

test('IMP-04: spellings of one address, and ids that repeat, are one account; the others name its line', async (t) => {
  const { report } = await importFile(
    t,
    server,
    writeRecords(t, [
      aUserLine('a-1', { email: 'Grace@acme.test' }),
      aUserLine('a-2', { email: 'grace@ACME.TEST' }),
      aUserLine('a-3', { email: 'ｇrace@acme.test' }),
      aUserLine('a-1', { email: 'other@acme.test' }),
      aUserLine('a-4', { email: 'graçe@acme.test' }),
      aUserLine('a-5', { email: null }),
      aUserLine('a-6', { email: 'no address' }),
      aUserLine('u-9', { email: 'ada@acme.test' }),
    ]),
  )
  assert.deepEqual(
    report.map(({ outcome, reason, detail }) => [outcome, reason, detail]),
    [
      ['created', 'needs_link', undefined],
      ['refused', 'record_repeated', 'line 1'],
      // As at "user create": no address is typed like this.
      ['refused', 'email_malformed', undefined],
      ['refused', 'record_repeated', 'line 1'],
      ['created', 'needs_link', undefined],
      ['created', 'address_absent', undefined],
      ['refused', 'email_malformed', undefined],
      ['refused', 'email_taken', undefined],
    ],
  )
})

test('IMP-05: what is not proved stays unproved, and a provider does not take the account over', async (t) => {
  const { report } = await importFile(
    t,
    server,
    writeRecords(t, [aUserLine('p-1'), aUserLine('p-2', { email_verified: 'true' })]),
  )
  assert.deepEqual(report[1], {
    line: 2,
    kind: 'user',
    source_id: 'p-2',
    id: null,
    outcome: 'refused',
    reason: 'record_malformed',
    detail: 'email_verified',
  })
  const user = await find('p-1')
  assert.equal(user?.emailVerifiedAt, undefined)
  const identity = anIdentity({ userId: 'p-1' as UserId, providerId: 'idp' as ProviderId })
  const reason = { kind: 'unused', email: 'p-1@acme.test' } as const
  assert.equal(await store.linkIdentity({ identity, reason, now: context.clock(), mails: [] }), 'refused')
  assert.deepEqual(await find('p-1'), user)
})

test('IMP-13: while an account would lose a second factor, nothing at all is written', async (t) => {
  const file = writeRecords(t, [
    { type: 'organization', id: 'initech', name: 'Initech' },
    aUserLine('f-1', { totp: { secret: base32(SECRET) } }),
    aUserLine('f-2', { has_second_factor: true }),
    aUserLine('f-3', { totp: { secret: base32(SECRET.subarray(0, 15)) } }),
  ])
  const before = dumpStore(server)
  await assert.rejects(importFile(t, server, file), /^AdminError: 2 accounts have a second factor/)
  const dry = await importFile(t, server, file, { isDryRun: true })
  assert.deepEqual([dry.counts.lostFactors, dry.counts.kinds.user], [2, { created: 1, refused: 2 }])
  assert.equal(dry.report.length, 4)
  assert.deepEqual(dumpStore(server), before)
  const { report } = await importFile(t, server, file, { mayLoseFactors: true })
  assert.deepEqual(
    report.map(({ reason }) => reason),
    [null, 'needs_link', 'second_factor_lost needs_link', 'second_factor_lost needs_link'],
  )
  assert.notEqual(await store.findSecondFactor('f-1' as UserId), undefined)
  assert.equal(await store.findSecondFactor('f-2' as UserId), undefined)
})

test('what cannot be taken is left out and reported; what contradicts this server refuses the user', async (t) => {
  await addProvider(
    server,
    { issuer: 'https://login.microsoftonline.com/6f/v2.0' },
    { subjectClaim: 'sub' },
    { id: 'entra', name: 'E' },
  )
  await perform(context, 'client.create', { client_id: 'machine', client_name: 'Machine' })
  const { report } = await importFile(
    t,
    server,
    writeRecords(t, [
      aUserLine('x-1', { password_hash: '$1$md5$abc', identities: [{ provider: 'nobody', subject: '1' }] }),
      aUserLine('x-2', { password_hash: BCRYPT.replace('$04$', '$13$') }),
      aUserLine('x-3', { identities: [{ provider: 'entra', subject: 'pairwise' }] }),
      aUserLine('x-4', { email: null, password_hash: BCRYPT }),
      aUserLine('x-5', { organizations: ['nowhere'] }),
      aUserLine('machine', { email: 'm@acme.test' }),
      aUserLine('x-6', { identities: [{ provider: 'delegate', subject: 'ada-1' }] }),
      aUserLine('gus_x'),
      aUserLine('samlp|acme|ada@acme.test', { email: 's@acme.test' }),
      aUserLine('x-7', { nickname: 'a' }),
      aUserLine('x-8', { profile: { nickname: 'a', hobby: 'b' } }),
      aUserLine('x-9', { email: null }),
      aUserLine('x-10', { email: null, identities: [{ provider: 'delegate', subject: 'ada-10' }] }),
      aUserLine('x-11', { email: null, disabled: true }),
      aUserLine('x-12', { disabled: true }),
    ]),
  )
  assert.deepEqual(
    report.map(({ reason, detail }) => (detail === undefined ? reason : `${reason}: ${detail}`)),
    [
      'hash_unsupported identity_dropped needs_link: identity of nobody',
      'hash_too_expensive needs_link',
      'identity_dropped needs_link: identity of entra',
      'address_absent',
      'organization_unknown',
      'id_taken',
      'identity_taken',
      'id_replaced needs_link',
      'id_replaced needs_link',
      'record_malformed: nickname (unknown)',
      'record_malformed: profile.hobby (unknown)',
      'address_absent',
      null,
      null,
      null,
    ],
  )
  for (const { id } of report.slice(7, 9)) assert.match(id ?? '', /^gus_00[0-9a-f]{10}[A-Za-z0-9_-]{22}$/)
  const others = writeRecords(t, [aUserLine('o-1')])
  await assert.rejects(importFile(t, server, others, { organizationId: 'nowhere' }), /There is no organization nowhere/)
  await assert.rejects(importFile(t, server, others, { providers: new Map([['a', 'b']]) }), /There is no provider b/)
  await importFile(t, server, others, { organizationId: 'acme' })
  assert.equal((await store.listMemberships('o-1' as UserId))[0]?.organizationId, 'acme' as OrganizationId)
})

test('with GRANTOR_PASSWORDS=off, and at a domain that requires a provider, no hash is stored', async (t) => {
  const off = await openTestServer(t, { env: { GRANTOR_PASSWORDS: 'off' } })
  const lines = writeRecords(t, [aUserLine('q-1', { password_hash: BCRYPT, email: 'q@routed.test' })])
  await addProvider(
    server,
    { issuer: 'https://routed.example' },
    { routing: 'required', domains: ['routed.test'] },
    { id: 'routed', name: 'R' },
  )
  for (const one of [off, server]) {
    assert.deepEqual(outcomesOf(await importFile(t, one, lines)), ['created password_not_used needs_link'])
    assert.equal((await one.context.store.findUser('q-1' as UserId))?.passwordHash, undefined)
  }
})

test('the audit has each user once with the groups, and that the import ended', async (t) => {
  const file = writeRecords(t, [
    { type: 'group', id: 'team' },
    aUserLine('e-1'),
    aUserLine('e-2', { groups: ['team'] }),
  ])
  const { counts } = await importFile(t, server, file)
  await importFile(t, server, file)
  const events = eventsOf(await listLinks(store, 0 as EpochMs))
  const own = events.filter(({ event, userId }) => event === 'user.imported' && userId?.startsWith('e-'))
  assert.deepEqual(
    own.map(({ userId, actor, details }) => [userId, actor, details]),
    [
      ['e-1', 'command-line', { source: 'users' }],
      ['e-2', 'command-line', { source: 'users', groups_added: 'team' }],
    ],
  )
  const finished = events.filter(
    ({ event, details }) => event === 'import.finished' && details?.['sha256'] === counts.sha256,
  )
  assert.deepEqual(
    finished.map(({ details }) => [details?.['created'], details?.['same']]),
    [
      [3, 0],
      [0, 3],
    ],
  )
})

test('a file that changes while it is read ends the import with an error', async (t) => {
  const file = writeRecords(t, [aUserLine('w-1')])
  const source = {
    ...NEUTRAL,
    *read(files: SourceFiles) {
      yield* NEUTRAL.read(files)
      writeFileSync(file, `${JSON.stringify(aUserLine('w-2'))}\n`)
    },
  }
  await assert.rejects(importFile(t, server, file, { source }), /a file changed while it was read/)
})

test('IMP-06: an import that ends at any row leaves whole users, and two at once store each user once', async (t) => {
  const count = 230
  const totp = { secret: base32(SECRET) }
  const lines = Array.from({ length: count }, (_, index) => aUserLine(`z-${index}`, { totp }))
  const file = writeRecords(t, lines)
  for (const end of [0, 100, 229]) {
    const source = {
      ...NEUTRAL,
      *read(files: SourceFiles) {
        let row = 0
        for (const record of NEUTRAL.read(files)) {
          if (row === end) throw new Error('The end.')
          row += 1
          yield record
        }
      },
    }
    await assert.rejects(importFile(t, server, file, { source, mayLoseFactors: true }), /The end\./)
    const stored = await Promise.all(lines.map((_, index) => find(`z-${index}`)))
    assert.equal(stored.filter((user) => user !== undefined).length, Math.floor(end / 100) * 100)
  }
  const runs = await Promise.all([importFile(t, server, file), importFile(t, server, file)])
  const [created, same] = ['created needs_link', 'same needs_link'].map((outcome) =>
    runs.map((run) => outcomesOf(run).filter((one) => one === outcome).length).reduce((sum, one) => sum + one),
  )
  assert.deepEqual([created, same], [count - 200, count + 200])
})
