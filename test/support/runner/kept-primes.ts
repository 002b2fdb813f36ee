import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { ALGORITHMS } from '../../../src/keys/algorithms.ts'

/**
 * From here on, this process makes most RSA keys of primes that it has: a new pair takes 70 ms of processor time, and most servers of tests
 * need one. The product of any two primes is a key of its own, so the nth pair makes 4 (n - 1) further keys. test/keys/algorithms.test.ts makes pairs.
 */
export function keepPrimes(): void {
  const { generate } = ALGORITHMS.RS256
  const primes: bigint[] = []
  const unused: (readonly [bigint, bigint])[] = []
  Object.assign(ALGORITHMS.RS256, {
    async generate() {
      const next = unused.pop()
      if (next !== undefined) return keysOf(...next)
      const made = await generate()
      const { p, q } = made.privateKey.export({ format: 'jwk' })
      const pair = [numberIn(p), numberIn(q)]
      unused.push(...pair.flatMap((one) => primes.map((other) => [one, other] as const)))
      primes.push(...pair)
      return made
    },
  })
}

/** RFC 8017 §3.2: the key of two primes. Its exponent is that of OpenSSL, of which each prime less one is no multiple. */
function keysOf(p: bigint, q: bigint): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  const e = 65_537n
  const d = inverse(e, (p - 1n) * (q - 1n))
  const numbers = { n: p * q, e, d, p, q, dp: d % (p - 1n), dq: d % (q - 1n), qi: inverse(q, p) }
  const members = Object.entries(numbers).map(([name, value]) => [name, textOf(value)])
  const key = { kty: 'RSA', ...Object.fromEntries(members) }
  const privateKey = createPrivateKey({ key, format: 'jwk' })
  return { privateKey, publicKey: createPublicKey(privateKey) }
}

/** By the extended algorithm of Euclid. */
function inverse(value: bigint, modulus: bigint): bigint {
  let [rest, next] = [modulus, value]
  let [factor, nextFactor] = [0n, 1n]
  while (next !== 0n) {
    const quotient = rest / next
    ;[rest, next] = [next, rest - quotient * next]
    ;[factor, nextFactor] = [nextFactor, factor - quotient * nextFactor]
  }
  return factor < 0n ? factor + modulus : factor
}

function numberIn(text = ''): bigint {
  return BigInt(`0x${Buffer.from(text, 'base64url').toString('hex')}`)
}

function textOf(value: bigint): string {
  const digits = value.toString(16)
  return Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex').toString('base64url')
}
