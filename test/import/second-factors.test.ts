import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UserId } from '../../src/protocol/ids.ts'
import { base32, secretName } from '../../src/protocol/sign-in/totp.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { openTestServer } from '../support/server.ts'
import { importFile } from './importing.ts'
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

/** `moved`: the app is here. `lost`: the account had another factor. `both`: an app is here, and another factor is not. */
type Fate = 'none' | 'moved' | 'lost' | 'both'
type Row = readonly [what: string, members: object, fate: Fate]

const APP = 'dSdmuHLQhkm54oIm0A0S'
const SECOND_APP = 'aQm3tR8vXw2kLp5nZc7Y'
const SHORT_APP = 'tooShort'

function keycloakApp(differing: object = {}, secret = APP): object {
  const data = { subType: 'totp', digits: 6, period: 30, algorithm: 'HmacSHA1', ...differing }
  return { type: 'otp', secretData: JSON.stringify({ value: secret }), credentialData: JSON.stringify(data) }
}

/** As Keycloak before 8 exports it. */
function olderKeycloakApp(differing: object = {}): object {
  return {
    type: 'totp',
    hashedSaltedValue: APP,
    hashIterations: 0,
    counter: 0,
    algorithm: 'HmacSHA1',
    digits: 6,
    period: 30,
    config: {},
    ...differing,
  }
}

const credential = (type: unknown) => ({ type, secretData: '{}', credentialData: '{}' })
const credentials = (...all: readonly unknown[]) => ({ credentials: all })

function supabaseFactor(factor_type: string, secret: string | null = null, status: unknown = 'verified'): object {
  return { factor_type, secret, status }
}

const factors = (...all: readonly unknown[]) => ({ mfa_factors: all })

const CASES: readonly (MadeExport & { readonly rows: readonly Row[] })[] = [
  {
    ...MADE_KEYCLOAK,
    rows: [
      ['no list of credentials', {}, 'none'],
      ['a password', credentials(credential('password')), 'none'],
      ['earlier passwords', credentials(credential('password'), credential('password-history')), 'none'],
      ['an app', credentials(keycloakApp()), 'moved'],
      ['an app of the older form', credentials(olderKeycloakApp()), 'moved'],
      ['an app of the older form with 8 digits', credentials(olderKeycloakApp({ digits: 8 })), 'lost'],
      ['an app of the older form with 60 seconds', credentials(olderKeycloakApp({ period: 60 })), 'lost'],
      ['an app of the older form with SHA-256', credentials(olderKeycloakApp({ algorithm: 'HmacSHA256' })), 'lost'],
      ['an app of the older form that counts', credentials(olderKeycloakApp({ type: 'hotp' })), 'lost'],
      [
        'an app of the older form with a short secret',
        credentials(olderKeycloakApp({ hashedSaltedValue: SHORT_APP })),
        'lost',
      ],
      [
        'an app of the older form without a secret',
        credentials(olderKeycloakApp({ hashedSaltedValue: undefined })),
        'lost',
      ],
      ['an app that counts', credentials(keycloakApp({ subType: 'hotp' })), 'lost'],
      ['an app whose data is no JSON', credentials({ type: 'otp', secretData: '{', credentialData: '{' }), 'lost'],
      ['two apps', credentials(keycloakApp(), keycloakApp({}, SECOND_APP)), 'both'],
      ['two apps, of which the second can be moved', credentials(keycloakApp({ digits: 8 }), keycloakApp()), 'both'],
      [
        'an app and recovery codes, which are made again here',
        credentials(keycloakApp(), credential('recovery-authn-codes')),
        'moved',
      ],
      ['recovery codes alone', credentials(credential('recovery-authn-codes')), 'lost'],
      ['a security key', credentials(credential('webauthn')), 'lost'],
      ['a passkey', credentials(credential('webauthn-passwordless')), 'lost'],
      ['an app and a security key', credentials(keycloakApp(), credential('webauthn')), 'both'],
      ['SMS of an extension', credentials(credential('password'), credential('mobile-number')), 'lost'],
      ['a type that no system has', credentials(credential('acme-push-v3')), 'lost'],
      ['no type', credentials({ secretData: '{}' }), 'lost'],
      ['a credential that is a text', credentials('webauthn'), 'lost'],
      ['credentials that are no list', { credentials: credential('webauthn') }, 'lost'],
      ['an app of which only the realm says so', { totp: true, ...credentials(credential('password')) }, 'lost'],
      ['an app of which no credential tells', { totp: 'true' }, 'lost'],
      ['an app that the realm knows, too', { totp: true, ...credentials(keycloakApp()) }, 'moved'],
      ['no app, as the realm says', { totp: false, ...credentials(credential('password')) }, 'none'],
      ['an app that its user still has to set up', { requiredActions: ['CONFIGURE_TOTP'] }, 'none'],
    ],
  },
  {
    ...MADE_AUTH0,
    rows: [
      ['nothing', {}, 'none'],
      ['an empty list', { multifactor: [] }, 'none'],
      ...['guardian', 'google-authenticator', 'sms', 'duo', 'acme'].map((one): Row => [
        `multifactor ${one}`,
        { multifactor: [one] },
        'lost',
      ]),
      ['a text', { multifactor: 'guardian' }, 'lost'],
      ['objects', { multifactor: [{ provider: 'sms' }] }, 'lost'],
      [
        'mfa_factors, as an import into Auth0 has them',
        { mfa_factors: [{ phone: { value: '+15551234567' } }] },
        'lost',
      ],
      ['authentication methods', { authentication_methods: [{ type: 'passkey' }] }, 'lost'],
    ],
  },
  {
    ...MADE_CLERK,
    rows: [
      ['nothing', {}, 'none'],
      ['columns that say no', { two_factor_enabled: 'false', backup_code_enabled: 'FALSE', passkeys: '[]' }, 'none'],
      ['an app', { totp_secret: base32(Buffer.from(APP)), two_factor_enabled: 'true', totp_enabled: 'true' }, 'moved'],
      ['an app and backup codes', { totp_secret: base32(Buffer.from(APP)), backup_code_enabled: 'true' }, 'moved'],
      ['an app with a short secret', { totp_secret: base32(Buffer.from(SHORT_APP)) }, 'lost'],
      ['an app without its secret', { totp_enabled: 'true' }, 'lost'],
      ['codes by SMS', { two_factor_enabled: 'true' }, 'lost'],
      ['backup codes alone', { backup_code_enabled: '1' }, 'lost'],
      ['passkeys', { passkeys: 'passkey_1' }, 'lost'],
      ['an app and passkeys', { totp_secret: base32(Buffer.from(APP)), passkeys: 'passkey_1' }, 'both'],
    ],
  },
  {
    ...MADE_SUPABASE,
    rows: [
      ['nothing', {}, 'none'],
      ['an app', factors(supabaseFactor('totp', base32(Buffer.from(APP)))), 'moved'],
      [
        'an app that is not set up yet',
        factors(supabaseFactor('totp', base32(Buffer.from(APP)), 'unverified')),
        'none',
      ],
      ['an encrypted app', factors(supabaseFactor('totp', '{"key_id":"x"}')), 'lost'],
      [
        'two apps',
        factors(...[APP, SECOND_APP].map((one) => supabaseFactor('totp', base32(Buffer.from(one))))),
        'both',
      ],
      ...['phone', 'webauthn', 'email', 'acme'].flatMap((type): readonly Row[] => [
        [type, factors(supabaseFactor(type)), 'lost'],
        [`${type} that is not set up yet`, factors(supabaseFactor(type, null, 'unverified')), 'none'],
        [`${type} with a status that no system has`, factors(supabaseFactor(type, null, 'suspended')), 'lost'],
        [`${type} without a status`, factors(supabaseFactor(type, null, null)), 'lost'],
      ]),
      ['a factor that is no object', factors('totp'), 'lost'],
    ],
  },
  {
    ...MADE_FIREBASE,
    rows: [
      ['nothing', {}, 'none'],
      ['an empty list', { mfaInfo: [] }, 'none'],
      ['a phone', { mfaInfo: [{ mfaEnrollmentId: 'x', phoneInfo: '+15551234567' }] }, 'lost'],
      ['an app', { mfaInfo: [{ mfaEnrollmentId: 'x', totpInfo: {} }] }, 'lost'],
      ['a form that no system has', { mfaInfo: { x: 1 } }, 'lost'],
      ['as the Admin SDK writes it', { multiFactor: { enrolledFactors: [{ factorId: 'phone' }] } }, 'lost'],
      ['as the Admin SDK writes it, without one', { multiFactor: { enrolledFactors: [] } }, 'none'],
    ],
  },
  {
    ...MADE_BETTER_AUTH,
    rows: [
      ['nothing', {}, 'none'],
      ...[false, 0, null].map((no): Row => [`twoFactorEnabled ${no}`, { twoFactorEnabled: no }, 'none']),
      ...[true, 1, 'true', 't', 'yes', 2].map((yes): Row => [
        `twoFactorEnabled ${yes}`,
        { twoFactorEnabled: yes },
        'lost',
      ]),
      ['the name of Drizzle', { two_factor_enabled: 1 }, 'lost'],
      ['passkeys', { passkeys: [{ credentialID: 'x' }] }, 'lost'],
      ['no passkeys', { passkeys: [] }, 'none'],
    ],
  },
  {
    ...MADE_NEUTRAL,
    rows: [
      ['nothing', {}, 'none'],
      ['an app', { totp: { secret: base32(Buffer.from(APP)) } }, 'moved'],
      ['an app with a short secret', { totp: { secret: base32(Buffer.from(SHORT_APP)) } }, 'lost'],
      ['an app without a text', { totp: { secret: '' } }, 'lost'],
      ['another factor', { has_second_factor: true }, 'lost'],
      ['an app and another factor', { totp: { secret: base32(Buffer.from(APP)) }, has_second_factor: true }, 'both'],
    ],
  },
]

for (const [index, { source, write, rows }] of CASES.entries())
  test(`IMP-13: ${source.verb}: each factor that is not moved is lost, whatever it is called, and a dry run says the same`, async (t) => {
    const users = rows.map(([, members], row) => ({ id: `f${index}-${row}`, members }))
    const file = write(t, users)
    const expected = rows.map(([what, , fate]) => [what, fate])
    const lost = rows.filter(([, , fate]) => fate === 'lost' || fate === 'both').length
    const dry = await importFile(t, server, file, { source, isDryRun: true })
    assert.equal(dry.counts.lostFactors, lost)
    const isLost = (reason: string | null) => reason?.split(' ').includes('second_factor_lost') === true
    assert.deepEqual(
      dry.report.map(({ outcome, reason }, row) => [expected[row]?.[0], outcome, isLost(reason)]),
      rows.map(([what, , fate]) => {
        const isLoss = fate === 'lost' || fate === 'both'
        return [what, isLoss ? 'refused' : 'created', isLoss]
      }),
    )
    await assert.rejects(
      importFile(t, server, file, { source }),
      new RegExp(`${lost} accounts? ha(s|ve) a second factor`),
    )
    const { report } = await importFile(t, server, file, { source, mayLoseFactors: true })
    const fates = await Promise.all(
      report.map(async ({ id, reason }, row) => {
        const secret = await appOf(id)
        const fate = secret === undefined ? (isLost(reason) ? 'lost' : 'none') : isLost(reason) ? 'both' : 'moved'
        assert.ok(secret === undefined || secret === APP, String(expected[row]))
        return [expected[row]?.[0], fate]
      }),
    )
    assert.deepEqual(fates, expected)
  })

async function appOf(id: string | null): Promise<string | undefined> {
  const app = await store.findSecondFactor(id as UserId)
  return app === undefined
    ? undefined
    : server.context.encryption.decrypt(secretName(id as UserId), app.secret)?.toString()
}

test('IMP-13: the report names the kind of each lost factor as the file does, and a value that is no name is not in it', async (t) => {
  const credentialOf = (type: string) => ({ type, secretData: '{}', credentialData: '{}' })
  const files: readonly (readonly [MadeExport, object, string])[] = [
    [
      MADE_KEYCLOAK,
      { credentials: [credentialOf('webauthn'), credentialOf('mobile-number'), credentialOf('V8q2mZr7Lx0Tn4Wb9KcD')] },
      'factor webauthn, factor mobile-number, factor …',
    ],
    [MADE_KEYCLOAK, { totp: true }, 'factor totp'],
    [MADE_KEYCLOAK, { credentials: [keycloakApp({}, SHORT_APP)] }, 'factor otp'],
    [MADE_AUTH0, { multifactor: ['guardian'] }, 'factor multifactor guardian'],
    [
      MADE_AUTH0,
      { authentication_methods: [{ type: 'webauthn-roaming' }] },
      'factor authentication_methods webauthn-roaming',
    ],
    [MADE_SUPABASE, { mfa_factors: [supabaseFactor('phone')] }, 'factor phone'],
    [MADE_FIREBASE, { mfaInfo: [{ phoneInfo: '+15551234567' }] }, 'factor mfaInfo'],
    [MADE_BETTER_AUTH, { twoFactorEnabled: 1, passkeys: [{ id: 'p' }] }, 'factor twoFactorEnabled, factor passkeys'],
    [MADE_CLERK, { two_factor_enabled: 'true' }, 'factor two_factor_enabled'],
    [MADE_NEUTRAL, { has_second_factor: true, totp: { secret: '' } }, 'factor has_second_factor, factor totp'],
  ]
  for (const [index, [{ source, write }, members, detail]] of files.entries()) {
    const file = write(t, [{ id: `kind-${index}`, members }])
    for (const options of [{ isDryRun: true }, { isDryRun: true, mayLoseFactors: true }])
      assert.deepEqual(
        (await importFile(t, server, file, { source, ...options })).report.map((one) => one.detail),
        [detail],
        source.verb,
      )
  }
})
