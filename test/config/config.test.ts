import assert from 'node:assert/strict'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { settingsDocument } from '../../src/cli/docs/settings.ts'
import { readConfig, type Config } from '../../src/config/config.ts'
import { locationOf } from '../../src/config/database-url.ts'
import { DEVICE_CODE } from '../../src/protocol/token/grant-types.ts'
import { SETTINGS } from '../../src/config/schema.ts'
import { temporaryFolder } from '../support/server.ts'
import { mistakesOf } from './mistakes.ts'

test('without settings the defaults are safe for this machine', () => {
  const config = readConfig({})
  assert.deepEqual([config.port, config.host, config.issuer], [3000, 'localhost', 'http://localhost:3000'])
  assert.ok(config.settings.isLoopbackIssuer)
  assert.deepEqual(config.database, { kind: 'sqlite', path: './data/grantor.db' })
  assert.deepEqual([config.secret, config.trustedProxies, config.settings.redirectErrors], [undefined, [], false])
  assert.ok(Object.isFrozen(config))
})

/** For each setting: a value, the property that it changes, and the default of that property. */
const APP_ADDRESSES = [
  'acme:/any',
  'other://cb/1',
  'cursor://anysphere.cursor-mcp/oauth/callback',
  'vscode://saoudrizwan.claude-dev/mcp-auth/callback/1',
]

const EFFECTS: Readonly<
  Record<keyof typeof SETTINGS.shape, readonly [string, (config: Config) => unknown, unknown, unknown]>
> = {
  PORT: [
    '4000',
    (config) => [config.port, config.issuer],
    [4000, 'http://localhost:4000'],
    [3000, 'http://localhost:3000'],
  ],
  GRANTOR_HOST: ['0.0.0.0', (config) => config.host, '0.0.0.0', 'localhost'],
  GRANTOR_ADMIN_PORT: ['off', (config) => config.admin, undefined, { host: 'localhost', port: 3001, isChosen: false }],
  GRANTOR_ADMIN_HOST: ['10.0.0.1', (config) => config.admin?.host, '10.0.0.1', 'localhost'],
  GRANTOR_CONSOLE_URL: [
    'https://console.acme.test',
    (config) => config.settings.consoleUrl,
    'https://console.acme.test',
    'http://localhost:3001',
  ],
  GRANTOR_ISSUER: [
    'http://127.0.0.1:9000',
    (config) => config.issuer,
    'http://127.0.0.1:9000',
    'http://localhost:3000',
  ],
  DATABASE_URL: ['sqlite:///var/g.db', (config) => locationOf(config.database), '/var/g.db', './data/grantor.db'],
  GRANTOR_SECRET: ['s'.repeat(32), (config) => config.secret, 's'.repeat(32), undefined],
  GRANTOR_SECRET_PREVIOUS: ['s'.repeat(32), (config) => config.previousSecret, 's'.repeat(32), undefined],
  GRANTOR_STATE_FILE: ['/g', (config) => config.stateFile, '/g', './data/grantor.db.state'],
  GRANTOR_TRUST_PROXY: ['10.0.0.0/8, ::1', (config) => config.trustedProxies, ['10.0.0.0/8', '::1'], []],
  LOG_LEVEL: ['error', (config) => config.logLevel, 'error', process.stdout.isTTY ? 'warn' : 'info'],
  GRANTOR_DRAIN_SECONDS: ['4', (config) => config.drainSeconds, 4, process.stdout.isTTY ? 0 : 2],
  GRANTOR_REGISTRATION: ['closed', (config) => config.settings.registration, 'closed', 'open'],
  GRANTOR_CLIENT_DOCUMENTS: ['trusted', (config) => config.settings.clientDocuments, 'trusted', 'open'],
  GRANTOR_DEVICE_GRANT: ['on', (config) => config.settings.grantTypes.includes(DEVICE_CODE), true, false],
  GRANTOR_REGISTRATION_RATE: ['7', (config) => config.rates.registration, 7, 60],
  GRANTOR_AUTHORIZATION_RATE: ['7', (config) => config.rates.authorization, 7, 600],
  GRANTOR_CLIENT_FAILURE_RATE: ['7', (config) => config.rates['client-authentication'], 7, 60],
  GRANTOR_STORED_TOKEN_RATE: ['7', (config) => config.rates['stored-token'], 7, 6000],
  GRANTOR_CODE_LIFETIME: ['7', (config) => config.settings.lifetimes.code, 7, 60],
  GRANTOR_ACCESS_TOKEN_LIFETIME: ['7', (config) => config.settings.lifetimes.accessToken, 7, 900],
  GRANTOR_ID_TOKEN_LIFETIME: ['60', (config) => config.settings.lifetimes.idToken, 60, 3600],
  GRANTOR_REFRESH_IDLE_LIFETIME: ['7', (config) => config.settings.lifetimes.refreshIdle, 7, 2_592_000],
  GRANTOR_REFRESH_ABSOLUTE_LIFETIME: ['7', (config) => config.settings.lifetimes.refreshAbsolute, 7, 7_776_000],
  GRANTOR_UNUSED_CLIENTS: ['5000', (config) => config.settings.unusedClients, 5000, 100_000],
  GRANTOR_KEY_ROTATION: ['86400', (config) => config.settings.keyRotation, 86_400, 2_592_000],
  GRANTOR_AUDIT_RETENTION: ['0', (config) => config.settings.auditRetention, 0, 7_776_000],
  GRANTOR_SIGNING_ALGORITHM: ['EdDSA', (config) => config.settings.signingAlgorithm, 'EdDSA', 'ES256'],
  GRANTOR_REFRESH_RETRY: ['0', (config) => config.settings.lifetimes.refreshRetry, 0, 30],
  GRANTOR_REFRESH_COPIES: ['strict', (config) => config.settings.refreshCopies, 'strict', 'network'],
  GRANTOR_REFRESH_EARLIER: ['0', (config) => config.settings.lifetimes.refreshEarlier, 0, 604_800],
  GRANTOR_SESSION_LIFETIME: ['7', (config) => config.settings.lifetimes.session, 7, 43_200],
  GRANTOR_AUTHORIZATION_LIFETIME: ['7', (config) => config.settings.lifetimes.authorization, 7, 600],
  GRANTOR_PUSHED_LIFETIME: ['7', (config) => config.settings.lifetimes.pushed, 7, 60],
  GRANTOR_UNUSED_CLIENT_LIFETIME: ['7', (config) => config.settings.lifetimes.unusedClient, 7, 86_400],
  GRANTOR_IDLE_CLIENT_LIFETIME: ['5184000', (config) => config.settings.lifetimes.idleClient, 5_184_000, 0],
  GRANTOR_REDIRECT_SCHEMES: [
    'Acme other://cb/*',
    ({ settings }) => APP_ADDRESSES.map((uri) => settings.redirects.apps.allows(uri)),
    [true, true, true, true],
    [false, false, true, true],
  ],
  GRANTOR_PASSWORDS: ['off', (config) => config.settings.passwords, 'off', 'on'],
  GRANTOR_SECOND_FACTOR: ['required', (config) => config.settings.secondFactor, 'required', 'optional'],
  GRANTOR_DELEGATE_URL: [
    'https://app.acme.test/consent',
    (config) => [config.settings.delegate, config.settings.passwords],
    [{ url: 'https://app.acme.test/consent', signOutUrl: undefined, mode: 'everything' }, 'off'],
    [undefined, 'on'],
  ],
  // These two have effect only together, and tests of their own in mail.test.ts.
  GRANTOR_SMTP_URL: ['', (config) => config.mail, undefined, undefined],
  GRANTOR_MAIL_FROM: ['', (config) => config.mail, undefined, undefined],
  // These two have effect only with GRANTOR_DELEGATE_URL, and tests of their own in delegate.test.ts.
  GRANTOR_DELEGATE: ['sign-in', (config) => config.settings.delegate, undefined, undefined],
  GRANTOR_DELEGATE_SIGN_OUT_URL: ['', (config) => config.settings.delegate, undefined, undefined],
  GRANTOR_LOG_NETWORKS: ['true', (config) => config.settings.logNetworks, true, false],
  GRANTOR_REDIRECT_ERRORS: ['true', (config) => config.settings.redirectErrors, true, false],
  GRANTOR_OUTBOUND: ['off', (config) => config.settings.outbound.isOn, false, true],
  GRANTOR_OUTBOUND_PORTS: ['443, 8443', (config) => config.settings.outbound.ports, [443, 8443], [443]],
  GRANTOR_NAME: ['Acme', (config) => config.branding.name, 'Acme', 'Grantor'],
  GRANTOR_ACCENT: ['#A0b1c2', (config) => config.branding.accent, '#A0b1c2', '#2456c9'],
  GRANTOR_LOGO: ['docs/images/sign-in.png', (config) => config.branding.logo?.mediaType, 'image/png', undefined],
  GRANTOR_TEXTS: ['test/config/texts.json', (config) => config.branding.texts, { en: { signIn: 'Log in' } }, {}],
  GRANTOR_CONTACT: ['mailto:it@acme.test', (config) => config.branding.contact, 'mailto:it@acme.test', undefined],
  GRANTOR_PRODUCT_URL: ['https://a.test/app', ({ branding }) => branding.productUri, 'https://a.test/app', undefined],
  GRANTOR_TERMS_URI: ['https://acme.test/t', (config) => config.branding.termsUri, 'https://acme.test/t', undefined],
  GRANTOR_PRIVACY_URI: ['https://acme.test/p', ({ branding }) => branding.privacyUri, 'https://acme.test/p', undefined],
  OTEL_EXPORTER_OTLP_ENDPOINT: [
    'http://127.0.0.1:4318/',
    (config) => config.traces?.url,
    'http://127.0.0.1:4318/v1/traces',
    undefined,
  ],
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: [
    'http://127.0.0.1:4318/spans',
    (config) => config.traces?.url,
    'http://127.0.0.1:4318/spans',
    undefined,
  ],
  // The settings of traces have effect only with an address, and have tests of their own below.
  OTEL_EXPORTER_OTLP_HEADERS: ['a=b', (config) => config.traces, undefined, undefined],
  OTEL_SERVICE_NAME: ['acme', (config) => config.traces, undefined, undefined],
  GRANTOR_TRACE_RATIO: ['0.5', (config) => config.traces, undefined, undefined],
  GRANTOR_CONFIG: ['', (config) => config.port, 3000, 3000], // Has tests of its own below.
}

for (const [name, [value, read, changed, usual]] of Object.entries(EFFECTS)) {
  test(`${name} has its effect, and its default when it is unset or empty`, () => {
    assert.deepEqual(read(readConfig({ [name]: value })), changed)
    assert.deepEqual(read(readConfig({})), usual)
    assert.deepEqual(read(readConfig({ [name]: '' })), usual)
  })
}

test('with an address for traces, the other settings of traces have their effect', () => {
  const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }
  const traces = { url: 'http://127.0.0.1:4318/v1/traces', headers: {}, serviceName: 'grantor', ratio: 1 }
  assert.deepEqual(readConfig(collector).traces, traces)
  const settings = { OTEL_EXPORTER_OTLP_HEADERS: 'a=b%20c', OTEL_SERVICE_NAME: 'acme', GRANTOR_TRACE_RATIO: '0.5' }
  assert.deepEqual(readConfig({ ...collector, ...settings }).traces, {
    ...traces,
    headers: { a: 'b c' },
    serviceName: 'acme',
    ratio: 0.5,
  })
})

const REFUSED: readonly (readonly [name: string, values: readonly string[]])[] = [
  ['PORT', ['0', '65536', '80.5', 'http', '-1']],
  ['GRANTOR_ADMIN_PORT', ['0', '65536', 'no', '3000']],
  ['LOG_LEVEL', ['verbose']],
  ['GRANTOR_REGISTRATION', ['no', 'OPEN']],
  ['GRANTOR_SECRET', ['x'.repeat(31)]],
  ['GRANTOR_SECRET_PREVIOUS', ['x'.repeat(31)]],
  ['GRANTOR_TRUST_PROXY', ['10.0.0.0/33', 'proxy.acme.test', '10.0.0.0/8/8', '::/129', 'loopback']],
  ['GRANTOR_REGISTRATION_RATE', ['0', 'many', '1.5']],
  ['GRANTOR_CODE_LIFETIME', ['0', '601']],
  ['GRANTOR_ACCESS_TOKEN_LIFETIME', ['0', '86401']],
  ['GRANTOR_REFRESH_RETRY', ['-1', '301']],
  ['GRANTOR_REFRESH_COPIES', ['on', 'NETWORK']],
  ['GRANTOR_REFRESH_EARLIER', ['-1', '2592001']],
  ['GRANTOR_KEY_ROTATION', ['1', '86399', '-86400', '315360001', 'monthly']],
  ['GRANTOR_SIGNING_ALGORITHM', ['HS256', 'none', 'es256']],
  ['GRANTOR_REDIRECT_SCHEMES', ['1app', 'javascript', 'https://app.example/*', 'app:', 'app://cb?x=1', 'app:/cb#']],
  ['GRANTOR_CLIENT_DOCUMENTS', ['on', 'closed']],
  ['GRANTOR_DEVICE_GRANT', ['true', 'On', '1']],
  ['GRANTOR_OUTBOUND', ['perhaps']],
  ['GRANTOR_OUTBOUND_PORTS', ['https', '0', '65536', '80-90']],
  ['GRANTOR_PASSWORDS', ['no', 'OFF']],
  ['GRANTOR_SECOND_FACTOR', ['on', 'off', 'Required']],
  ['GRANTOR_DELEGATE', ['off', 'consent']],
  ['GRANTOR_REDIRECT_ERRORS', ['perhaps']],
  ['GRANTOR_TRACE_RATIO', ['2', '-1', 'half']],
  ['OTEL_EXPORTER_OTLP_HEADERS', ['a', 'a=b,c', 'a=\u0007']],
  ['GRANTOR_NAME', ['x'.repeat(61)]],
  ['GRANTOR_ACCENT', ['blue', '#12345', 'red;}']],
  ['GRANTOR_CONTACT', ['it@acme.test', 'tel:+4912345', 'javascript:alert(1)', 'http://acme.test']],
  ['GRANTOR_TERMS_URI', ['javascript:alert(1)', '/terms']],
  ['DATABASE_URL', ['sqlite:', 'sqlite::memory:', 'mysql://localhost/db', './grantor.db']],
]

for (const [name, values] of REFUSED) {
  test(`${name} is refused if its value is invalid`, () => {
    for (const value of values) {
      const found = mistakesOf({ [name]: value })
      assert.deepEqual([found.length, found[0]?.startsWith(name)], [1, true], `${value}: ${found.join()}`)
    }
  })
}

test('idle clients are removed only after their last refresh token has expired', () => {
  const [mistake = ''] = mistakesOf({ GRANTOR_IDLE_CLIENT_LIFETIME: '5183999' })
  assert.match(mistake, /^GRANTOR_IDLE_CLIENT_LIFETIME must be 0, or .* twice GRANTOR_REFRESH_IDLE_LIFETIME: 5184000,/)
  assert.deepEqual(mistakesOf({ GRANTOR_IDLE_CLIENT_LIFETIME: '200', GRANTOR_REFRESH_IDLE_LIFETIME: '100' }), [])
})

test('all mistakes are reported together, including unknown settings', () => {
  const found = mistakesOf({
    PORT: 'x',
    GRANTOR_SECRET: 'short',
    GRANTOR_ACCENT: 'blue',
    GRANTOR_ISUER: 'https://a.test',
  })
  assert.deepEqual(
    found.map((mistake) => mistake.split(' ', 1)[0]),
    ['PORT', 'GRANTOR_SECRET', 'GRANTOR_ACCENT', 'GRANTOR_ISUER'],
  )
})

test('mistakes that depend on several settings are reported together', () => {
  const found = mistakesOf({
    GRANTOR_ISSUER: 'http://auth.acme.test/?x',
    GRANTOR_TRUST_PROXY: 'nonsense',
    DATABASE_URL: 'x',
  })
  assert.deepEqual(
    found.map((mistake) => mistake.split(' ', 1)[0]),
    ['GRANTOR_ISSUER', 'GRANTOR_ISSUER', 'GRANTOR_TRUST_PROXY', 'DATABASE_URL'],
  )
})

test('a mistake in one setting does not hide a mistake in another', () => {
  const found = mistakesOf({
    PORT: 'abc',
    GRANTOR_SECRET: 'short',
    GRANTOR_ISSUER: 'http://auth.example.com',
    GRANTOR_TRUST_PROXY: 'somewhere',
    GRANTOR_REDIRECT_SCHEMES: 'cursor javascript no/scheme https',
    DATABASE_URL: 'mysql://x',
  }).join('\n')
  for (const name of ['PORT ', 'GRANTOR_SECRET ', 'GRANTOR_ISSUER ', 'GRANTOR_TRUST_PROXY ', 'DATABASE_URL ']) {
    assert.ok(found.includes(name), `${name}in ${found}`)
  }
  for (const scheme of ['javascript', 'no/scheme', 'https']) assert.ok(found.includes(`has ${scheme},`), found)
  assert.ok(!found.includes('has cursor'))
})

test('the issuer must use https unless it is a loopback address', () => {
  for (const issuer of ['http://localhost:3000', 'http://127.0.0.1:3000', 'http://[::1]:3000', 'http://localhost']) {
    assert.equal(readConfig({ GRANTOR_ISSUER: issuer }).settings.isLoopbackIssuer, true, issuer)
  }
  for (const issuer of [
    'http://auth.acme.test',
    'http://192.168.1.2',
    'http://localhost.acme.test',
    'ftp://localhost',
  ]) {
    assert.match(mistakesOf({ GRANTOR_ISSUER: issuer }).join(), /must use https/, issuer)
  }
})

test('RFC 8414 §2: the issuer must have no query, fragment or user, and has one spelling', () => {
  const proxy = { GRANTOR_TRUST_PROXY: '10.0.0.0/8' }
  for (const issuer of ['https://a.test', 'https://a.test:8443', 'https://a.test/auth']) {
    assert.deepEqual(mistakesOf({ ...proxy, GRANTOR_ISSUER: issuer }), [], issuer)
  }
  const wrong = [
    'a.test',
    'https://a.test/',
    'https://a.test?',
    'https://a.test#x',
    'https://u:p@a.test',
    'https://A.test',
    'https://a.test:443',
  ]
  for (const issuer of wrong) {
    assert.equal(mistakesOf({ ...proxy, GRANTOR_ISSUER: issuer }).length > 0, true, issuer)
  }
})

test('MET-06: the issuer must not contain characters with a meaning in a shell', () => {
  const proxy = { GRANTOR_TRUST_PROXY: '10.0.0.0/8' }
  for (const issuer of ['https://a_b.test:8443/x-y/z.1:2', 'https://[2001:db8::1]/x', 'http://[::1]:3000']) {
    assert.deepEqual(mistakesOf({ ...proxy, GRANTOR_ISSUER: issuer }), [], issuer)
  }
  for (const odd of ['$(id)', "'", '&', ';', '`', '|', '!', '%20', '~', '(', '*', '@', '=', 'é']) {
    for (const issuer of [`https://a.test/${odd}`, `https://a${odd}.test`]) {
      assert.match(mistakesOf({ ...proxy, GRANTOR_ISSUER: issuer }).join(), /^GRANTOR_ISSUER /, issuer)
    }
  }
})

test('with an https issuer, the server needs a trusted proxy or must listen on loopback only', () => {
  const issuer = { GRANTOR_ISSUER: 'https://auth.acme.test' }
  assert.match(mistakesOf(issuer).join(), /GRANTOR_TRUST_PROXY must name the network/)
  assert.equal(readConfig({ ...issuer, GRANTOR_HOST: '127.0.0.1' }).host, '127.0.0.1')
  const behindProxy = readConfig({ ...issuer, GRANTOR_TRUST_PROXY: '10.0.0.0/8' })
  assert.deepEqual([behindProxy.host, behindProxy.settings.isLoopbackIssuer], ['::', false])
})

test('STO-11: a file that other users may write to is refused, and so is a file with secrets that they may read', (t) => {
  const file = join(temporaryFolder(t), 'grantor.env')
  const mistakesIn = (text: string, mode: number): readonly string[] => {
    writeFileSync(file, text)
    chmodSync(file, mode)
    return mistakesOf({ GRANTOR_CONFIG: file })
  }
  const secret = `GRANTOR_SECRET=${'hidden'.repeat(6)}\n`
  for (const mode of [0o644, 0o444, 0o640]) {
    const [mistake = '', ...more] = mistakesIn(`${secret}PORT=4000\n`, mode)
    assert.match(mistake, /which contains GRANTOR_SECRET\. .*chmod 600 .*grantor\.env$/)
    assert.doesNotMatch(mistake, /hidden/)
    assert.deepEqual(more, [])
  }
  assert.match(
    mistakesIn(`${secret}DATABASE_URL=postgres://a:b@c/d\n`, 0o644).join(),
    /which contains DATABASE_URL, GRANTOR_SECRET\./,
  )
  assert.deepEqual(mistakesIn(secret, 0o600), [])
  assert.deepEqual(mistakesIn('PORT=4000\nDATABASE_URL=sqlite:./grantor.db\n', 0o644), [])
  for (const mode of [0o664, 0o646, 0o666]) {
    chmodSync(file, mode)
    assert.match(
      mistakesOf({ GRANTOR_CONFIG: file }).join(),
      /^GRANTOR_CONFIG names a file that is not safe.*chmod go-w/,
    )
  }
})

const SECRET = 's'.repeat(32)

test('the DATABASE_URL of a PostgreSQL is used unchanged, with its parameters, and shown without user and password', () => {
  const shown: readonly (readonly [url: string, location: string])[] = [
    ['postgres://ada:hidden@db.acme.test/grantor', 'postgres://db.acme.test/grantor'],
    ['postgresql://ada:p%40%2Fhidden@db.acme.test:6432/grantor', 'postgres://db.acme.test:6432/grantor'],
    ['postgres://ada@[::1]:5432/grantor?sslmode=verify-full&sslrootcert=/ca.pem', 'postgres://[::1]:5432/grantor'],
    ['postgres:///grantor?host=/run/postgresql&password=hidden', 'postgres:///run/postgresql/grantor'],
  ]
  for (const [url, location] of shown) {
    const { database } = readConfig({ DATABASE_URL: url, GRANTOR_SECRET: SECRET })
    assert.deepEqual(database, { kind: 'postgres', url })
    assert.equal(locationOf(database), location)
  }
})

test('an invalid DATABASE_URL of a PostgreSQL is refused with a message that repeats no part of it', () => {
  const wrong: readonly (readonly [url: string, says: RegExp])[] = [
    ['postgres:grantor', /two slashes/],
    ['postgres://ada:hidden@db.acme.test', /name a database/],
    ['postgres://ada:hidden@db.acme.test/', /name a database/],
    ['postgres://ada:hidden@db.acme.test?x', /name a database/],
    ['postgres://ada:hidden@/grantor', /one address, of one host/],
    ['postgres:///grantor', /name a host/],
    ['postgres://ada:hidden@one,two/grantor', /of one host/],
    ['postgres://ada:hidden@one:5432,two:5432/grantor', /of one host/],
    ['postgres://ada:hidden@db.acme.test:http/grantor', /port/],
    ['postgres://ada:hidden@db.acme.test:/grantor', /port/],
    ['postgres://ada:hidden@db.acme.test:0/grantor', /port/],
    ['postgres://ada:hidden@db.acme.test:65536/grantor', /port/],
    ['postgres://ada:hidden#@db.acme.test/grantor', /port.*%23/],
    ['postgres://ada:12#hidden@db.acme.test/grantor', /%23/],
    ['postgres://ada:12/hidden@db.acme.test/grantor', /%2F/],
    ['postgres://ada:12?hidden@db.acme.test/grantor', /name a database/],
    ['postgres://ada:hidden%@db.acme.test/grantor', /%25/],
    ['postgres://ada:hidden%ff@db.acme.test/grantor', /%25/],
    ['postgres://ada:hidden@db.acme.test/grantor/x', /one database/],
    ['postgres://ada:hidden@db.acme.test/grantor?sslmode=hidden', /sslmode that is none of/],
    ['postgres://ada:hidden@db.acme.test/grantor?options=-c%20hidden', /must not have options/],
  ]
  for (const [url, says] of wrong) {
    const found = mistakesOf({ DATABASE_URL: url, GRANTOR_SECRET: SECRET })
    assert.equal(found.length, 1, `${url}: ${found.join()}`)
    assert.match(found[0] ?? '', says, url)
    assert.match(found[0] ?? '', /^DATABASE_URL /)
    assert.doesNotMatch(found[0] ?? '', /hidden|acme/)
  }
})

test('with PostgreSQL GRANTOR_SECRET must be set, because the nodes share no file', () => {
  const DATABASE_URL = 'postgres://ada:hidden@db.acme.test/grantor'
  assert.match(mistakesOf({ DATABASE_URL }).join(), /^GRANTOR_SECRET must be set with PostgreSQL/)
  assert.match(mistakesOf({ DATABASE_URL, GRANTOR_SECRET: '' }).join(), /^GRANTOR_SECRET must be set with PostgreSQL/)
  assert.match(mistakesOf({ DATABASE_URL, GRANTOR_SECRET: 'short' }).join(), /^GRANTOR_SECRET must have at least 32/)
  const named = mistakesOf({ DATABASE_URL: 'postgres://ada@db.acme.test' }).map((mistake) => mistake.split(' ', 1)[0])
  assert.deepEqual(named, ['DATABASE_URL', 'GRANTOR_SECRET'])
  assert.equal(readConfig({ DATABASE_URL, GRANTOR_SECRET: SECRET }).secret, SECRET)
})

test('the message about a secret setting does not contain its value', () => {
  assert.doesNotMatch(mistakesOf({ GRANTOR_SECRET: 'hunter2' }).join(), /hunter2/)
})

test('docs/configuration.md is what `npm run docs` generates from the schema', () => {
  const committed = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8')
  assert.equal(committed, settingsDocument(), 'Run: npm run docs')
  for (const name of Object.keys(SETTINGS.shape))
    assert.match(committed, new RegExp(`^- \`${name}\` \\(.+\\): [A-Z]`, 'm'))
})
