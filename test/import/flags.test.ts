import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UserId } from '../../src/protocol/ids.ts'
import { BETTER_AUTH } from '../../src/import/sources/better-auth.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { openTestServer } from '../support/server.ts'
import { importFile, outcomesOf, writeRecords } from './importing.ts'
import {
  MADE_AUTH0,
  MADE_BETTER_AUTH,
  MADE_CLERK,
  MADE_FIREBASE,
  MADE_KEYCLOAK,
  MADE_NEUTRAL,
  MADE_SUPABASE,
  type MadeExport,
} from './made-exports.ts'

const server = await openTestServer(WHOLE_FILE)
const { store } = server.context

/** The values of a member, and what becomes of a user with each. */
interface Case extends MadeExport {
  /** Members that each of these users has. */
  readonly with?: object
  readonly member: string
  readonly yes: readonly unknown[]
  readonly no: readonly unknown[]
}

/** What grants nothing, or says no, in any file. */
const NO = [undefined, null, false, 0]
/** No value that these systems write. */
const ODD = ['yes', 't', 2, {}, ['true']]
const PAST = '2020-01-01T00:00:00+00:00'
const FUTURE = '2999-01-01T00:00:00+00:00'

const VERIFIED: readonly Case[] = [
  { ...MADE_KEYCLOAK, member: 'emailVerified', yes: [true], no: [...NO, 'true', ...ODD] },
  { ...MADE_AUTH0, member: 'email_verified', yes: [true], no: [...NO, 'true', ...ODD] },
  { ...MADE_FIREBASE, member: 'emailVerified', yes: [true], no: [...NO, 'true', ...ODD] },
  { ...MADE_BETTER_AUTH, member: 'emailVerified', yes: [true, 1], no: [...NO, 'true', ...ODD] },
  { ...MADE_BETTER_AUTH, member: 'email_verified', yes: [true, 1], no: [...NO, 'true', ...ODD] },
  { ...MADE_SUPABASE, member: 'email_confirmed_at', yes: [PAST], no: [...NO, true, 1, '1', '2020', 'yes', {}] },
  { ...MADE_NEUTRAL, member: 'email_verified', yes: [true], no: [undefined, false] },
]

const DISABLED: readonly Case[] = [
  { ...MADE_KEYCLOAK, member: 'enabled', yes: [undefined, null, false, 0, 'true', ...ODD], no: [true, 1] },
  { ...MADE_AUTH0, member: 'blocked', yes: [true, 1, 'true', 'yes', 2, { a: 1 }], no: NO },
  { ...MADE_FIREBASE, member: 'disabled', yes: [true, 1, 'true', 'yes', 2], no: [...NO, 'false'] },
  { ...MADE_BETTER_AUTH, member: 'banned', yes: [true, 1, 'true', 't', 2], no: [...NO, 'f'] },
  {
    ...MADE_BETTER_AUTH,
    with: { banned: true },
    member: 'banExpires',
    yes: [undefined, null, '', '0', '1', '2020', 0, 1, 'yes', FUTURE],
    no: [PAST, '2020-01-01 00:00:00'],
  },
  {
    ...MADE_SUPABASE,
    member: 'banned_until',
    yes: [FUTURE, 'infinity', 1, true, '1', '2020'],
    no: [undefined, null, '', PAST],
  },
  { ...MADE_SUPABASE, member: 'deleted_at', yes: [PAST, FUTURE, 'infinity', 1], no: [undefined, null] },
  { ...MADE_CLERK, member: 'banned', yes: ['true', 'TRUE', '1', 'yes'], no: ['', 'false', '0', 'FALSE'] },
  { ...MADE_CLERK, member: 'locked', yes: ['true'], no: ['', 'false'] },
  { ...MADE_NEUTRAL, member: 'disabled', yes: [true], no: [undefined, false] },
]

for (const [what, cases, isSet] of [
  ['an address is verified only if the file says so', VERIFIED, 'emailVerifiedAt'],
  ['a user is disabled unless the file says that it is not', DISABLED, 'disabledAt'],
] as const)
  test(`IMP-05, IMP-16: ${what}`, async (t) => {
    for (const [index, { source, write, with: others, member, yes, no }] of cases.entries()) {
      const values = [...yes, ...no]
      const users = values.map((value, row) => ({
        id: `${isSet}-${index}-${row}`,
        members: { ...others, [member]: value },
      }))
      const { report } = await importFile(t, server, write(t, users), { source })
      const stored = await Promise.all(report.map(({ id }) => store.findUser(id as UserId)))
      assert.deepEqual(
        stored.map((user, row) => [
          source.verb,
          member,
          values[row],
          user === undefined ? 'none' : user[isSet] !== undefined,
        ]),
        values.map((value, row) => [source.verb, member, value, row < yes.length]),
      )
    }
  })

/** Written by better-auth 1.7.25 into SQLite, with the plugins username, admin, phoneNumber, twoFactor and passkey. */
const SQLITE_ROW = {
  id: 'kLRyBiF93QNGLas7hr2NrQBsO7r5ui6q',
  name: 'M',
  email: 'mfa@acme.test',
  emailVerified: 1,
  image: null,
  createdAt: '2026-11-30T05:20:14.435Z',
  updatedAt: '2026-11-30T05:20:14.986Z',
  username: null,
  banned: 0,
  banReason: null,
  banExpires: null,
  phoneNumber: null,
  phoneNumberVerified: null,
  twoFactorEnabled: 1,
  accounts: [
    {
      providerId: 'credential',
      accountId: 'kLRyBiF93QNGLas7hr2NrQBsO7r5ui6q',
      password:
        'c29104dae49672aa83d943e9ab26ee7e:276eb437d2e65c4b7c7a146914f0c9336937a4935bd2a1423f6ed3e0a5200146c67290f14373fe7df241fc7f80ff35d625d6812654dd60edf62e5e57bfee5c78',
    },
  ],
  passkeys: [],
}

test('better-auth: SQLite has numbers: 1 is a verified address and a lost second factor', async (t) => {
  const phone = { ...SQLITE_ROW, id: 'p', email: 'p@acme.test', phoneNumber: '+15551234567', phoneNumberVerified: 1 }
  const file = writeRecords(t, [SQLITE_ROW, { ...phone, twoFactorEnabled: 0 }])
  const imported = await importFile(t, server, file, { source: BETTER_AUTH, mayLoseFactors: true })
  assert.deepEqual(outcomesOf(imported), ['created second_factor_lost', 'created'])
  const [user, other] = await Promise.all([SQLITE_ROW.id, 'p'].map((id) => store.findUser(id as UserId)))
  assert.ok(user?.emailVerifiedAt !== undefined && user.disabledAt === undefined)
  assert.equal(other?.profile?.phone_number_verified, true)
})

test('IMP-16: a ban for a time stays, and the report says that it was one', async (t) => {
  const files: readonly (readonly [MadeExport, object, boolean])[] = [
    [MADE_BETTER_AUTH, { banned: true, banExpires: FUTURE }, true],
    [MADE_BETTER_AUTH, { banned: true, banExpires: null }, false],
    [MADE_BETTER_AUTH, { banned: false, banExpires: FUTURE }, false],
    [MADE_BETTER_AUTH, { banned: true, banExpires: PAST }, false],
    [MADE_SUPABASE, { banned_until: FUTURE }, true],
    [MADE_SUPABASE, { banned_until: 'infinity' }, false],
    [MADE_SUPABASE, { banned_until: FUTURE, deleted_at: PAST }, false],
    [MADE_CLERK, { locked: 'true' }, true],
    [MADE_CLERK, { locked: 'true', banned: 'true' }, false],
  ]
  for (const [index, [{ source, write }, members, isNoted]] of files.entries()) {
    const { report } = await importFile(t, server, write(t, [{ id: `ban-${index}`, members }]), { source })
    const reasons = report.map(({ reason }) => reason?.split(' ').includes('ban_unlimited') === true)
    assert.deepEqual(reasons, [isNoted], `${source.verb} ${JSON.stringify(members)}`)
  }
})
