import assert from 'node:assert/strict'
import { chmodSync } from 'node:fs'
import { test } from 'node:test'
import { BETTER_AUTH } from '../../src/import/sources/better-auth.ts'
import { CLERK } from '../../src/import/sources/clerk.ts'
import { FIREBASE } from '../../src/import/sources/firebase.ts'
import { SUPABASE } from '../../src/import/sources/supabase.ts'
import type { UserId } from '../../src/protocol/ids.ts'
import { base32, secretName } from '../../src/protocol/sign-in/totp.ts'
import { authorizeUrl, locationOf, PlainBrowser, registerClient } from '../../tools/flow.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { addProvider } from '../support/provider/providers.ts'
import { openTestServer } from '../support/server.ts'
import { HASH_VECTORS, VECTOR_PASSWORD } from '../support/sign-in/hash-vectors.ts'
import { importFile, outcomesOf, writeInput } from './importing.ts'

const OWN = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/
const [BCRYPT, BCRYPT_2A] = HASH_VECTORS.map(({ text }) => text)
const APP = Buffer.from('a secret of an app, 24 b')

const server = await openTestServer(WHOLE_FILE, { passwordCosts: 'released' })
const client = await registerClient(server)
const { store } = server.context
await addProvider(server, { issuer: 'https://idp.example' })

/** Signs in with the password of the other system, and then with the hash that replaced its own. */
async function walk(email: string): Promise<void> {
  for (const round of [1, 2]) {
    const browser = new PlainBrowser(server)
    const page = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
    const answer = await browser.submit(page, { email, password: VECTOR_PASSWORD })
    assert.equal(answer.statusCode, 303, `${email}, ${round}: ${answer.body}`)
    assert.match((await store.findUserByEmail(email))?.passwordHash ?? '', OWN)
  }
}

function lines(records: readonly object[]): string {
  return records.map((one) => `${JSON.stringify(one)}\n`).join('')
}

async function appOf(id: string): Promise<Buffer | undefined> {
  const stored = await store.findSecondFactor(id as UserId)
  return server.context.encryption.decrypt(secretName(id as UserId), stored?.secret ?? '')
}

const find = (id: string) => store.findUser(id as UserId)

const COLUMNS =
  'id,first_name,last_name,username,primary_email_address,primary_phone_number,verified_email_addresses,unverified_email_addresses,verified_phone_numbers,unverified_phone_numbers,totp_secret,password_digest,password_hasher,unsafe_metadata'

/** As the dashboard of Clerk writes it. */
function clerkLine(id: string, cells: Readonly<Record<string, string>> = {}): string {
  const all: Readonly<Record<string, string>> = {
    id,
    primary_email_address: `${id}@acme.test`,
    unsafe_metadata: '{}',
    ...cells,
  }
  return COLUMNS.split(',')
    .map((name) => all[name] ?? '')
    .join(',')
}

test('Clerk: users keep id, password and app; an address is verified if it is listed', async (t) => {
  const csv = [
    COLUMNS,
    clerkLine('user_2a', {
      first_name: '"Ada ""A"""',
      last_name: 'Lovelace',
      username: 'ada',
      primary_phone_number: '+15551234567',
      verified_email_addresses: '"other@acme.test,user_2a@acme.test"',
      password_digest: String(BCRYPT),
      password_hasher: 'bcrypt',
      unsafe_metadata: '"{""plan"": ""x""}"',
    }),
    clerkLine('user_2b', { totp_secret: base32(APP), verified_email_addresses: 'xuser_2b@acme.test' }),
    clerkLine('user_2c', { password_digest: String(BCRYPT), password_hasher: 'bcrypt_peppered' }),
  ].join('\r\n')
  const { report, counts } = await importFile(t, server, writeInput(t, csv), { source: CLERK })
  assert.deepEqual(
    report.map(({ id, reason }) => [id, reason]),
    [
      ['user_2a', null],
      ['user_2b', 'needs_link'],
      ['user_2c', 'hash_unsupported needs_link'],
    ],
  )
  assert.deepEqual(counts.dropped, { unsafe_metadata: 1 })
  const user = await find('user_2a')
  assert.partialDeepStrictEqual(user, {
    name: 'Ada "A" Lovelace',
    profile: {
      given_name: 'Ada "A"',
      preferred_username: 'ada',
      phone_number: '+15551234567',
      phone_number_verified: false,
    },
  })
  assert.notEqual(user?.emailVerifiedAt, undefined)
  assert.equal((await find('user_2b'))?.emailVerifiedAt, undefined)
  assert.deepEqual(await appOf('user_2b'), APP)
  await walk('user_2a@acme.test')
})

test('IMP-09: crafted CSV: a line is refused alone, and quotes that hide lines end the import', async (t) => {
  const csv = [
    COLUMNS,
    clerkLine('x-1', { first_name: '"two\r\nlines, ""quoted"""', last_name: '"=HYPERLINK(""x"")"' }),
    clerkLine('x-2', { first_name: '=1+1', username: '@SUM(A1)' }),
    clerkLine('x-3', { first_name: 'a\0' }),
    '',
    clerkLine('x-4', { first_name: '"a"b' }),
    `${clerkLine('x-5')},one more`,
    'x-6,too few',
    clerkLine('x-7', { first_name: `"\u00ff\n${clerkLine('x-forged')}\n"` }),
    clerkLine('=cmd', { primary_email_address: 'formula@acme.test' }),
  ]
  const read = (text: string | Buffer) => importFile(t, server, writeInput(t, text), { source: CLERK })
  // In Latin 1, ÿ is a byte that UTF-8 does not have.
  const { report } = await read(Buffer.concat([Buffer.from('\ufeff'), Buffer.from(`${csv.join('\n')}\n`, 'latin1')]))
  assert.deepEqual(
    report.map(({ line, reason }) => [line, reason]),
    [
      [2, 'needs_link'],
      [4, 'needs_link'],
      ...[5, 7, 8, 9, 10].map((line) => [line, 'line_malformed']),
      [13, 'id_replaced needs_link'],
    ],
  )
  assert.equal((await find('x-1'))?.profile?.family_name, '=HYPERLINK("x")')
  assert.equal((await find('x-2'))?.name, '=1+1')
  await assert.rejects(
    read(`${COLUMNS}\n"x-8\n${clerkLine('x-9')}\n${clerkLine('x-10')}`),
    /the record in line 2 do not/,
  )
  await assert.rejects(read(`${COLUMNS}\n"x-8,\n"x-9",`), /the record in line 2 do not match/)
  await assert.rejects(read(`${COLUMNS}\n"${'z\n'.repeat(600_000)}",`), /the record in line 2 do not match/)
  await assert.rejects(read(''), /no line with the names/)
  await assert.rejects(read(COLUMNS.replace('totp_secret', 'totp')), /has no column totp_secret/)
  await assert.rejects(read(`${COLUMNS},id`), /two columns of one name/)
  await assert.rejects(read(`${COLUMNS}\n${'y'.repeat(1024 * 1024 + 1)}`), /line 2 has more than 1 MiB/)
  for (const id of ['x-9', 'x-forged']) assert.equal(await find(id), undefined)
})

/** As `to_jsonb` gives the rows of Supabase, without the columns that no import reads. */
function supabaseRow(id: string, differing: object = {}): object {
  return {
    id,
    email: `${id}@acme.test`,
    phone: null,
    banned_until: null,
    deleted_at: null,
    is_anonymous: false,
    encrypted_password: '',
    email_confirmed_at: null,
    phone_confirmed_at: null,
    raw_app_meta_data: { provider: 'email', providers: ['email'] },
    raw_user_meta_data: {},
    identities: [{ id: '5f', provider: 'email', provider_id: id, user_id: id, identity_data: { sub: id } }],
    mfa_factors: [],
    ...differing,
  }
}

test('Supabase: users keep id, password, app and identities, and metadata of users verify nothing', async (t) => {
  const factor = (factor_type: string, secret: string | null, status = 'verified') => ({ factor_type, secret, status })
  const file = writeInput(
    t,
    lines([
      supabaseRow('s1', {
        encrypted_password: BCRYPT_2A,
        email_confirmed_at: '2026-01-02T03:04:05.678901+00:00',
        phone: '15551234567',
        raw_user_meta_data: {
          full_name: 'Ada',
          phone_number_verified: true,
          email_verified: true,
          sub: 'x',
          plan: 'x',
        },
      }),
      supabaseRow('s2', {
        identities: [{ provider: 'google', provider_id: '1093', identity_data: { sub: '1093' } }],
        raw_user_meta_data: {
          phone_number: '+15550000000',
          phone_number_verified: true,
          avatar_url: 'https://a.example/x',
        },
        mfa_factors: [factor('totp', base32(APP))],
      }),
      supabaseRow('s3', {
        banned_until: '2999-01-01T00:00:00+00:00',
        mfa_factors: [factor('phone', null, 'unverified')],
      }),
      supabaseRow('s4', { banned_until: '2020-01-01T00:00:00+00:00', email_confirmed_at: true }),
      supabaseRow('s5', { banned_until: 'infinity' }),
    ]),
  )
  const options = { source: SUPABASE, providers: new Map([['google', 'idp']]) }
  const imported = await importFile(t, server, file, options)
  assert.deepEqual(outcomesOf(imported), [
    'created',
    'created',
    'created ban_unlimited',
    'created needs_link',
    'created',
  ])
  assert.deepEqual(imported.counts.dropped, { plan: 1 })
  const [first, second, banned, released, forever] = await Promise.all(['s1', 's2', 's3', 's4', 's5'].map(find))
  assert.partialDeepStrictEqual(first, {
    name: 'Ada',
    profile: { phone_number: '+15551234567', phone_number_verified: false },
  })
  assert.notEqual(first?.emailVerifiedAt, undefined)
  assert.deepEqual(second?.profile, { picture: 'https://a.example/x' })
  assert.equal((await store.listIdentities('s2' as UserId))[0]?.subject, '1093')
  assert.deepEqual(await appOf('s2'), APP)
  assert.ok(banned?.disabledAt !== undefined && forever?.disabledAt !== undefined)
  assert.ok(released?.disabledAt === undefined && released?.emailVerifiedAt === undefined)
  await walk('s1@acme.test')
  for (const lost of [factor('totp', '{"key_id":"x"}'), factor('webauthn', null)])
    await assert.rejects(
      importFile(t, server, writeInput(t, lines([supabaseRow('s6', { mfa_factors: [lost] })])), options),
      /1 account has a second factor/,
    )
  const partial = writeInput(t, lines([supabaseRow('s7', { mfa_factors: undefined })]))
  await assert.rejects(importFile(t, server, partial, options), /line 1 has no list mfa_factors/)
  assert.equal(await find('s7'), undefined)
})

/** Made by firebase-scrypt 2.2.0 (npm), which costs less here than at Firebase. */
const FIREBASE_USER = {
  localId: 'fb1Xc8bq0pTgQ6',
  email: 'fb1@acme.test',
  emailVerified: true,
  passwordHash: 'yFRNIZNaWIYozd/SRCLidlj+qjPnrk3KvSTp+WJ8vDzup7R+SVPtFBGM4L3ErgD3dsmFjxqxGIni5XbQ25ynuA==',
  salt: '42xEC+ixf3L2lw==',
  displayName: 'Ada',
  lastSignedInAt: '1700000000000',
  createdAt: '1600000000000',
  phoneNumber: '+15551234567',
  customAttributes: '{"admin":true}',
  providerUserInfo: [{ providerId: 'google.com', rawId: '2093', email: 'fb1@acme.test' }],
}
/** As the console of Firebase shows them. */
const PARAMS = `hash_config {
  algorithm: SCRYPT,
  base64_signer_key: jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==,
  base64_salt_separator: Bw==,
  rounds: 8,
  mem_cost: 6,
}`

test('Firebase: users keep id, password and identities, and the signer key must be readable by its owner only', async (t) => {
  const users = [
    FIREBASE_USER,
    { localId: 'fb2', email: 'fb2@acme.test', emailVerified: 'true', disabled: true, providerUserInfo: [] },
  ]
  const file = writeInput(t, JSON.stringify({ users }, undefined, 2))
  const read = (params?: string, mode = 0o600) => {
    const path = params === undefined ? undefined : writeInput(t, params, 'params')
    if (path !== undefined) chmodSync(path, mode)
    const others = path === undefined ? {} : { params: path }
    return importFile(t, server, file, { source: FIREBASE, others, providers: new Map([['google.com', 'idp']]) })
  }
  await assert.rejects(read(), /need the parameters of the project/)
  await assert.rejects(read(PARAMS, 0o640), /Change its mode to 0600/)
  await assert.rejects(read(PARAMS.replace('SCRYPT', 'BCRYPT')), /not the hash_config/)
  await assert.rejects(read(PARAMS.replace('mem_cost', 'memory')), /not the hash_config/)
  assert.equal(await find(FIREBASE_USER.localId), undefined)
  const imported = await read(PARAMS)
  assert.deepEqual(outcomesOf(imported), ['created', 'created'])
  assert.deepEqual(imported.counts.dropped, { customAttributes: 1 })
  const [first, second] = await Promise.all([FIREBASE_USER.localId, 'fb2'].map(find))
  assert.partialDeepStrictEqual(first, { name: 'Ada', profile: { phone_number: '+15551234567' } })
  assert.notEqual(first?.emailVerifiedAt, undefined)
  assert.equal((await store.listIdentities(FIREBASE_USER.localId as UserId))[0]?.subject, '2093')
  assert.ok(second?.emailVerifiedAt === undefined && second?.disabledAt !== undefined)
  await walk('fb1@acme.test')
})

/** Written by better-auth 1.7.25 with the plugins admin, username, twoFactor and phoneNumber. */
const BETTER_AUTH_USER = {
  id: 'BZH1mcoz1iGBNztRPPrdwIWxIgpeXWvj',
  name: 'Bea "B" Better',
  email: 'bea@acme.test',
  emailVerified: false,
  image: null,
  createdAt: '2026-11-28T06:14:46.918Z',
  updatedAt: '2026-11-28T06:14:46.918Z',
  role: 'user',
  banned: false,
  banReason: null,
  banExpires: null,
  username: 'bea',
  displayUsername: 'bea',
  twoFactorEnabled: false,
  phoneNumber: null,
  phoneNumberVerified: null,
  accounts: [
    {
      id: 'nBlHr99Ibr1lxQtXu78e22pBZPLwDNg5',
      accountId: 'BZH1mcoz1iGBNztRPPrdwIWxIgpeXWvj',
      providerId: 'credential',
      userId: 'BZH1mcoz1iGBNztRPPrdwIWxIgpeXWvj',
      accessToken: null,
      password:
        '0281e9d672b52689fa48e27f3e8f3576:f1d07916a57b382fd41d811c682153cbb6ccaeb21d5321ab94e98e2c3335f7c4653122c661e6e854193394363cc086e9118c3e17f8e613b185a53aeeac363cf7',
    },
  ],
}

test('better-auth: users keep id, password and identities, whatever case the columns have', async (t) => {
  const options = { source: BETTER_AUTH, providers: new Map([['google', 'idp']]) }
  const plain = { ...BETTER_AUTH_USER, accounts: [] }
  const file = writeInput(
    t,
    lines([
      BETTER_AUTH_USER,
      {
        id: 'ba2',
        email: 'ba2@acme.test',
        email_verified: true,
        accounts: [{ account_id: '3093', provider_id: 'google', password: null }],
      },
      { ...plain, id: 'ba3', email: 'ba3@acme.test', username: null, banned: true, banExpires: null },
      {
        ...plain,
        id: 'ba4',
        email: 'ba4@acme.test',
        username: null,
        banned: 1,
        banExpires: '2020-01-01T00:00:00.000Z',
      },
    ]),
  )
  const imported = await importFile(t, server, file, options)
  assert.deepEqual(outcomesOf(imported), ['created', 'created', 'created', 'created needs_link'])
  assert.deepEqual(imported.counts.dropped, { role: 3, displayUsername: 3 })
  const [bea, social, banned, released] = await Promise.all([BETTER_AUTH_USER.id, 'ba2', 'ba3', 'ba4'].map(find))
  assert.partialDeepStrictEqual(bea, { name: 'Bea "B" Better', profile: { preferred_username: 'bea' } })
  assert.ok(bea?.emailVerifiedAt === undefined && social?.emailVerifiedAt !== undefined)
  assert.equal((await store.listIdentities('ba2' as UserId))[0]?.subject, '3093')
  assert.ok(banned?.disabledAt !== undefined && released?.disabledAt === undefined)
  await walk('bea@acme.test')
  for (const factor of [{ twoFactorEnabled: true }, { twoFactorEnabled: undefined, two_factor_enabled: 1 }])
    await assert.rejects(
      importFile(t, server, writeInput(t, lines([{ ...plain, id: 'ba5', ...factor }])), options),
      /1 account has a second factor/,
    )
  const partial = writeInput(t, lines([{ ...plain, accounts: undefined }]))
  await assert.rejects(importFile(t, server, partial, options), /line 1 has no list accounts/)
})
