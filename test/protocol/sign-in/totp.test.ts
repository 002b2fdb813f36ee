import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { Secret, TOTP, URI } from 'otpauth'
import type { EpochMs } from '../../../src/base/brand.ts'
import { base32, findStep, otpauthUri, stepOf, totpAt, TOTP_SECRET_BYTES } from '../../../src/protocol/sign-in/totp.ts'

const RFC_SECRET = Buffer.from('12345678901234567890')

test('RFC 6238 Appendix B: the codes of its times, with eight digits', () => {
  const table: readonly (readonly [seconds: number, code: string])[] = [
    [59, '94287082'],
    [1111111109, '07081804'],
    [1111111111, '14050471'],
    [1234567890, '89005924'],
    [2000000000, '69279037'],
    [20000000000, '65353130'],
  ]
  for (const [seconds, code] of table) {
    assert.equal(totpAt(RFC_SECRET, stepOf((seconds * 1000) as EpochMs), 8), code, String(seconds))
  }
})

test('RFC 4226 Appendix D: the codes of its first ten counters', () => {
  const codes = ['755224', '287082', '359152', '969429', '338314', '254676', '287922', '162583', '399871', '520489']
  assert.deepEqual(
    codes.map((_, counter) => totpAt(RFC_SECRET, counter)),
    codes,
  )
})

test('RFC 6238 §5.2: the codes of the step before, of the present one and of the next are found, and no others', () => {
  const secret = randomBytes(TOTP_SECRET_BYTES)
  const now = 1_800_000_010_000 as EpochMs
  for (const drift of [-3, -2, -1, 0, 1, 2, 3]) {
    const step = stepOf(now) + drift
    const isNear = Math.abs(drift) <= 1
    const code = totpAt(secret, step)
    const isOfNear = [-1, 0, 1].some((other) => totpAt(secret, stepOf(now) + other) === code)
    const expected = isNear ? step : undefined
    if (isNear || !isOfNear) assert.equal(findStep(secret, code, now), expected, String(drift))
  }
})

test('a typed code may have spaces, and nothing else beside six digits', () => {
  const now = 59_000 as EpochMs
  const [code, step] = ['287082', 1]
  for (const typed of [code, '287 082', ' 2 8 7 0 8 2 ', `${code}\n`]) {
    assert.equal(findStep(RFC_SECRET, typed, now), step, typed)
  }
  for (const typed of [
    '',
    '28708',
    '2870820',
    '94287082',
    '28708a',
    '２８７０８２',
    `-${code}`,
    `${code}.0`,
    '+287082',
  ]) {
    assert.equal(findStep(RFC_SECRET, typed, now), undefined, typed)
  }
})

test('a released implementation reads the address, and computes the same codes', () => {
  const secret = randomBytes(TOTP_SECRET_BYTES)
  const app = URI.parse(otpauthUri(secret, 'Acme: Cloud & Söhne', 'ada+test@acme.test'))
  assert.ok(app instanceof TOTP)
  assert.equal(app.secret.base32, base32(secret))
  assert.deepEqual([app.issuer, app.label], ['Acme  Cloud & Söhne', 'ada+test@acme.test'])
  assert.deepEqual([app.algorithm, app.digits, app.period], ['SHA1', 6, 30])
  for (let index = 0; index < 50; index += 1) {
    const now = (1_700_000_000_000 + index * 1_234_567) as EpochMs
    assert.equal(findStep(secret, app.generate({ timestamp: now }), now), stepOf(now))
  }
})

test('RFC 4648 §6: base32 of every length that a released implementation decodes', () => {
  for (let length = 0; length <= 25; length += 1) {
    const bytes = randomBytes(length)
    assert.deepEqual(Buffer.from(Secret.fromBase32(base32(bytes)).bytes), bytes, String(length))
  }
})
