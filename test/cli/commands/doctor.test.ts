import assert from 'node:assert/strict'
import { chmodSync, closeSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { generate } from 'selfsigned'
import { diagnose } from '../../../src/doctor/doctor.ts'
import type { Examination, Finding } from '../../../src/checks/finding.ts'
import { NO_PLACE } from '../../../src/base/store-place.ts'
import type { EpochMs } from '../../../src/base/brand.ts'
import { runHere, serveHere } from '../../support/command.ts'
import { openPlace, run, type Place } from '../../support/process.ts'

const YEAR_AGO = Date.now() - 366 * 24 * 60 * 60 * 1000

type Report = { readonly code: number | null; readonly healthy: boolean; readonly findings: readonly Finding[] }

async function examine(place: Place, environment: Record<string, string> = {}): Promise<Report> {
  const { code, stdout } = await runHere(place, ['doctor', '--json'], { environment })
  return { ...(JSON.parse(stdout) as Report), code }
}

function summary({ findings }: Report): readonly string[] {
  return findings.filter(({ verdict }) => verdict !== 'ok').map(({ check, verdict }) => `${check} ${verdict}`)
}

test('beside a healthy server everything is ok and the exit code is 0', async (t) => {
  const place = await openPlace(t)
  await serveHere(t, place)
  const report = await examine(place)
  assert.deepEqual([report.code, report.healthy, summary(report)], [0, true, []])
  const words = await runHere(place, ['doctor'])
  assert.equal(words.code, 0)
  assert.match(words.stdout, /^ok {7}configuration {2}Every setting is acceptable\.$/m)
  assert.match(words.stdout, /^ok {7}issuer /m)
})

test('doctor finds a server whose database file was moved away, and a warning of the configuration', async (t) => {
  const place = await openPlace(t)
  await serveHere(t, place)
  renameSync(join(place.folder, 'grantor.db'), join(place.folder, 'aside'))
  const report = await examine(place, { GRANTOR_OUTBOUND_PORTS: '8443' })
  const [ports, database] = report.findings.filter(({ verdict }) => verdict !== 'ok')
  assert.match(ports?.message ?? '', /GRANTOR_OUTBOUND_PORTS has no 443/)
  assert.match(database?.message ?? '', /does not exist, and a server runs without its database\.$/)
  assert.match(database?.remedy ?? '', /stop the server, put the file back/)
})

test('doctor finds that the database is not the one of the server', async (t) => {
  const place = await openPlace(t)
  await serveHere(t, place)
  const environment = { DATABASE_URL: `sqlite:${join(place.folder, 'other', 'grantor.db')}` }
  await runHere(place, ['migrate'], { environment })
  const report = await examine(place, environment)
  assert.deepEqual([report.code, summary(report)], [1, ['issuer failed']])
  assert.match(report.findings.find(({ verdict }) => verdict === 'failed')?.message ?? '', /keys that are not in this/)
})

test('doctor reports each mistake in the configuration on a line', async (t) => {
  const place = await openPlace(t)
  const report = await examine(place, { PORT: 'x', GRANTOR_ACCENT: 'blue', GRANTOR_TYPO: '1' })
  assert.deepEqual([report.code, summary(report)], [1, Array(3).fill('configuration failed')])
})

test('without a server and a database doctor says how to start, and creates nothing', async (t) => {
  const place = await openPlace(t)
  const report = await examine(place)
  assert.deepEqual([report.code, summary(report)], [1, ['database warning', 'issuer failed']])
  assert.match(report.findings.at(-2)?.remedy ?? '', /grantor serve/)
  assert.throws(() => new DatabaseSync(join(place.folder, 'grantor.db'), { readOnly: true }))
})

/** What is done to an installation, and the lines besides the issuer's that say so. */
const BROKEN: readonly (readonly [
  why: string,
  harm: (folder: string) => Record<string, string>,
  says: readonly string[],
])[] = [
  ['the root secret is another', () => ({ GRANTOR_SECRET: 'x'.repeat(40) }), ['secret failed']],
  [
    'the root secret is gone',
    (folder) => {
      rmSync(join(folder, 'grantor.secret'))
      return {}
    },
    ['secret failed'],
  ],
  [
    'others may read the root secret',
    (folder) => {
      chmodSync(join(folder, 'grantor.secret'), 0o644)
      return {}
    },
    ['secret failed'],
  ],
  [
    'others may read the database',
    (folder) => {
      chmodSync(join(folder, 'grantor.db'), 0o640)
      return {}
    },
    ['database failed'],
  ],
  [
    'a signing key was changed',
    (folder) => change(folder, `update signing_keys set encrypted_private_key = 'AAAA'`),
    ['keys failed'],
  ],
  [
    'a published key was changed',
    (folder) => change(folder, `update signing_keys set public_jwk = json_set(public_jwk, '$.x', 'AAAA')`),
    ['keys failed'],
  ],
  ['there is no signing key', (folder) => change(folder, 'delete from signing_keys'), ['keys warning']],
  [
    'a row is from the future',
    (folder) => change(folder, 'update signing_keys set created_at = created_at + 3600000'),
    ['clock failed'],
  ],
  [
    'no server ran for a year, by this clock',
    (folder) =>
      change(folder, `insert into settings values ('clock', '{"agreedAt":${YEAR_AGO},"deletionTime":${YEAR_AGO}}')`),
    ['clock failed'],
  ],
  [
    'a newer release migrated it',
    (folder) => change(folder, `insert into migrations values (9999, 'later', 0, '')`),
    ['schema failed'],
  ],
]

function change(folder: string, sql: string): Record<string, string> {
  const database = new DatabaseSync(join(folder, 'grantor.db'))
  database.exec(sql)
  database.close()
  return {}
}

test('doctor reports each fault of the store with its remedy', async (t) => {
  await Promise.all(
    BROKEN.map(([why, harm, says]) =>
      t.test(why, async (part) => {
        const place = await openPlace(part)
        await runHere(place, ['migrate'])
        const report = await examine(place, harm(place.folder))
        assert.deepEqual(
          summary(report).filter((line) => line !== 'issuer failed'),
          says,
        )
        assert.ok(report.findings.every(({ verdict, remedy }) => verdict === 'ok' || remedy !== undefined))
      }),
    ),
  )
})

test('doctor does not take another program at the address of the issuer for Grantor', async (t) => {
  const place = await openPlace(t)
  const other = createServer((_request, response) => response.end('hello')).listen(place.port, '127.0.0.1')
  t.after(() => other.close())
  const report = await examine(place, { GRANTOR_ISSUER: `http://127.0.0.1:${place.port}` })
  assert.match(report.findings.find(({ check }) => check === 'issuer')?.message ?? '', /not as Grantor does/)
})

test('a damaged page of a SQLite file is found by --deep, which reads all of it', async (t) => {
  const place = await openPlace(t)
  await runHere(place, ['migrate'])
  const path = join(place.folder, 'grantor.db')
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(64, 'x'), 0, 64, 4096 * 20)
  closeSync(file)
  const databaseIn = (report: Report) => report.findings.find(({ check }) => check === 'database')
  assert.match(databaseIn(await examine(place))?.message ?? '', /private, and synced .* "grantor doctor --deep" also/)
  const { stdout } = await runHere(place, ['doctor', '--json', '--deep'])
  assert.match(databaseIn(JSON.parse(stdout) as Report)?.message ?? '', /grantor\.db is damaged: /)
})

const KEY = { purpose: 'access', algorithm: 'ES256', state: 'valid' } as const
const SOUND: Examination = {
  choices: {
    issuer: 'https://auth.acme.test',
    isIssuerChosen: true,
    isLoopbackIssuer: false,
    host: '::',
    port: 3000,
    trustedProxies: ['10.0.0.0/8'],
    admin: { host: 'localhost', port: 3001 },
    consoleUrl: 'http://localhost:3001',
    keyRotation: 30 * 86_400,
    registration: 'open',
    clientDocuments: 'open',
    lifetimes: { unusedClient: 86_400 },
    unusedClients: 1000,
    delegate: undefined,
    grantTypes: ['authorization_code'],
  },
  store: {
    location: 'grantor.db',
    secretLocation: 'GRANTOR_SECRET',
    previousSecretLocation: 'GRANTOR_SECRET_PREVIOUS',
    database: {
      kind: 'opened',
      appliedMigrations: [1],
      missingMigrations: [],
      unknownMigrations: [],
      home: { kind: 'file', freeBytes: 1e12, logBytes: 1e8, damage: [] },
      time: undefined,
      apis: ['https://api.acme.test'],
      issuer: undefined,
      masterKey: { wrapped: undefined, check: 'check' },
      // Later than the time of every case.
      closedAt: undefined,
      backedUpAt: 1_900_000_000_000 as EpochMs,
      place: NO_PLACE,
    },
    secret: { kind: 'matches' },
    keys: [{ ...KEY, id: 'key' as never, activeFrom: 1_799_000_000_000 as EpochMs }],
    clients: undefined,
    history: undefined,
  },
  readiness: { kind: 'ready', address: 'http://127.0.0.1:3000/health/ready' },
  probe: {
    kind: 'answered',
    address: 'https://auth.acme.test/.well-known/oauth-authorization-server',
    issuer: 'https://auth.acme.test',
    keyIds: ['key'],
    time: undefined,
    certificateEndsAt: undefined,
  },
  forwards: { ignored: 0, missing: 0 },
  now: 1_800_000_000_000 as EpochMs,
}

function findingsOf(difference: Partial<Examination>): readonly string[] {
  const findings = diagnose({ ...SOUND, ...difference })
  return findings
    .filter(({ verdict }) => verdict !== 'ok')
    .map(({ check, message, remedy }) => `${check}: ${message} ${remedy}`)
}

test('an examination without a fault has only ok findings', () => {
  assert.deepEqual(findingsOf({}), [])
})

test('an administration that other machines reach without TLS is a warning', () => {
  const listeningOn = (host: string, more: Partial<Examination['choices']> = {}) => ({
    choices: { ...SOUND.choices, admin: { host, port: 3001 }, ...more },
  })
  for (const host of ['localhost', '127.0.0.1', '::1', '0.0.0.0', '10.0.0.5'])
    assert.deepEqual(findingsOf(listeningOn(host)), [])
  assert.deepEqual(findingsOf({ choices: { ...SOUND.choices, admin: undefined } }), [])
  const plain = findingsOf(
    listeningOn('0.0.0.0', { issuer: 'http://localhost:3000', isLoopbackIssuer: true, host: 'localhost' }),
  )
  assert.match(plain.join(), /admin: .* without TLS, .* Unset GRANTOR_ADMIN_HOST\./)
  const alone = findingsOf(listeningOn('0.0.0.0', { trustedProxies: [] }))
  assert.match(alone.join(), /admin: .* rejects all requests there.* GRANTOR_TRUST_PROXY/)
})

test('a key that signs for more than twice the rotation time is a warning, unless rotation is off', () => {
  const day = 86_400_000
  const signingFor = (days: number) => ({ ...SOUND, now: (1_799_000_000_000 + days * day) as EpochMs })
  assert.deepEqual(findingsOf(signingFor(60)), [])
  const [complaint = '', ...more] = findingsOf(signingFor(61))
  assert.match(complaint, /^keys: The key key has been signing for 61 days.*grantor key rotate$/)
  assert.deepEqual(more, [])
  assert.deepEqual(findingsOf({ ...signingFor(61), choices: { ...SOUND.choices, keyRotation: 0 } }), [])
  // The next one waits, and changes nothing about the one that signs.
  const keys = [...SOUND.store.keys, { ...KEY, id: 'next' as never, activeFrom: signingFor(62).now }]
  assert.equal(findingsOf({ ...signingFor(61), store: { ...SOUND.store, keys } }).length, 1)
  assert.deepEqual(findingsOf({ ...signingFor(62), store: { ...SOUND.store, keys } }), [])
})

test('decision 0006: without an API, the doctor of an issuer that is not loopback says how to declare one', () => {
  const database = { ...SOUND.store.database, apis: [] } as Examination['store']['database']
  const [complaint = '', ...more] = findingsOf({ store: { ...SOUND.store, database } })
  assert.match(complaint, /^apis: .*grantor api create --resource/)
  assert.deepEqual(more, [])
})

test('OP-18: an API at the address of the server has failed, however it is written', () => {
  for (const resource of ['https://auth.acme.test', 'https://auth.acme.test/', 'https://AUTH.acme.test:443']) {
    const database = { ...SOUND.store.database, apis: ['https://api.acme.test', resource] }
    const store = { ...SOUND.store, database: database as Examination['store']['database'] }
    const found = diagnose({ ...SOUND, store }).filter(({ check }) => check === 'apis')
    assert.deepEqual([found.length, found[0]?.verdict], [1, 'failed'])
    assert.ok(found[0]?.message.startsWith(`The API ${resource} has the address of this server`))
    assert.equal(found[0]?.remedy?.endsWith(`grantor api delete ${resource}`), true)
  }
})

test('contradicting network settings are warnings', () => {
  const { choices } = SOUND
  const loopback = { ...choices, issuer: 'http://localhost:3000', isLoopbackIssuer: true, trustedProxies: [] }
  const probe = { ...SOUND.probe, issuer: 'http://localhost:3000' } as Examination['probe']
  assert.match(findingsOf({ choices: { ...choices, trustedProxies: ['0.0.0.0/0'] } })[0] ?? '', /any caller can claim/)
  assert.match(findingsOf({ choices: { ...choices, trustedProxies: [] } })[0] ?? '', /share one rate limit/)
  assert.match(findingsOf({ probe, choices: { ...loopback, host: '0.0.0.0' } })[0] ?? '', /without TLS/)
  assert.match(findingsOf({ probe, choices: { ...loopback, host: 'localhost', port: 3001 } })[0] ?? '', /another port/)
})

test('the doctor warns of a proxy on this machine that GRANTOR_TRUST_PROXY does not name', async (t) => {
  assert.match(
    findingsOf({ forwards: { ignored: 1, missing: 0 } })[0] ?? '',
    /^network: A proxy on this machine is not in GRANTOR_TRUST_PROXY/,
  )
  assert.match(
    findingsOf({ forwards: { ignored: 0, missing: 1 } })[0] ?? '',
    /^network: A trusted proxy sends requests without the address.* X-Forwarded-For/,
  )
  const place = await openPlace(t)
  const environment = { GRANTOR_TRUST_PROXY: '10.0.0.0/8' }
  await serveHere(t, place, environment)
  const headers = { 'x-forwarded-for': '203.0.113.9' }
  assert.equal((await fetch(`${place.issuer}/health/ready`, { headers })).status, 200)
  assert.deepEqual(summary(await examine(place, environment)), ['network warning'])
})

const CERTIFICATE_REMEDIES = [
  ['CERT_HAS_EXPIRED', /Renew the certificate/],
  ['CERT_NOT_YET_VALID', /clock of this machine/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /certificate for the host of the issuer/],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /NODE_EXTRA_CA_CERTS=<file/],
] as const

test('a server for others without a backup is warned about, and one for this machine only is not', () => {
  const database = { ...SOUND.store.database, backedUpAt: undefined } as Examination['store']['database']
  const store = { ...SOUND.store, database }
  assert.match(findingsOf({ store })[0] ?? '', /^backup: No backup was made with "grantor backup"/)
  const issuer = 'http://localhost:3000'
  const choices = { ...SOUND.choices, issuer, isLoopbackIssuer: true, host: 'localhost' }
  assert.deepEqual(findingsOf({ store, choices, probe: { ...SOUND.probe, issuer } as Examination['probe'] }), [])
})

test('a certificate that is refused, or expires within two weeks, gets advice about certificates', () => {
  const unreachable = { kind: 'unreachable', address: 'https://auth.acme.test', reason: 'refused' } as const
  for (const [certificateError, remedy] of CERTIFICATE_REMEDIES) {
    const probe = { ...unreachable, certificateError }
    assert.match(findingsOf({ probe })[0] ?? '', remedy)
  }
  const endingIn = (days: number) =>
    findingsOf({ probe: { ...SOUND.probe, certificateEndsAt: SOUND.now + days * 86_400_000 } as Examination['probe'] })
  assert.deepEqual(endingIn(14), [])
  assert.match(endingIn(13.5)[0] ?? '', /^certificate: .* expires in 13 days\. Renew it/)
})

test('the doctor reads a certificate by TLS: one of an unknown CA, and one that expires soon', async (t) => {
  const place = await openPlace(t)
  const certificate = await generate([{ name: 'commonName', value: 'localhost' }], {
    notAfterDate: new Date(Date.now() + 5 * 86_400_000),
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  })
  const file = join(place.folder, 'ca.pem')
  writeFileSync(file, certificate.cert)
  const issuer = `https://localhost:${place.port}`
  const answer = JSON.stringify({ issuer, jwks_uri: `${issuer}/jwks`, keys: [] })
  const proxy = createTlsServer({ key: certificate.private, cert: certificate.cert }, (_request, response) =>
    response.end(answer),
  )
  proxy.listen(place.port, 'localhost')
  t.after(() => proxy.close())
  const environment = { GRANTOR_ISSUER: issuer, GRANTOR_TRUST_PROXY: '127.0.0.1', GRANTOR_SECRET: 'x'.repeat(40) }
  const unknown = await run(place, ['doctor'], { environment })
  assert.match(
    unknown.stdout,
    /failed +issuer .*cannot be reached: self-signed certificate.*\n +→ .*NODE_EXTRA_CA_CERTS=/,
  )
  const known = await run(place, ['doctor'], { environment: { ...environment, NODE_EXTRA_CA_CERTS: file } })
  assert.match(known.stdout, /^warning +certificate +The certificate of https:.* expires in 4 days\.$/m)
})

test('RFC 8414 §3.3: the issuer of the responding server must equal the configured one byte for byte', () => {
  const probe = { ...SOUND.probe, issuer: 'https://AUTH.acme.test' } as Examination['probe']
  assert.match(findingsOf({ probe })[0] ?? '', /has the issuer https:\/\/AUTH\.acme\.test/)
})

test('doctor finds a differing clock of the server, a damaged file, a full disk and a log that stays', () => {
  const probe = { ...SOUND.probe, time: SOUND.now + 60_000 } as Examination['probe']
  assert.match(findingsOf({ probe })[0] ?? '', /^clock: .*60 s ahead/)
  const database = {
    ...SOUND.store.database,
    home: { kind: 'file', freeBytes: 5, logBytes: 1e9, damage: ['row 1 missing'] },
  } as Examination['store']['database']
  assert.deepEqual(
    findingsOf({ store: { ...SOUND.store, database } }).map((line) => line.split(':', 1)[0]),
    ['database', 'disk', 'database'],
  )
})
