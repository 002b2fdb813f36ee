import type { HashFormat, HashRefusal } from '../protocol/sign-in/password-formats.ts'
import { bytesOf, formatPhc, NORMALIZES, readHash, unpadded, writtenOut } from './formats.ts'

/** Texts of other systems, and what they are in the form that is stored. */
const NOTATIONS: readonly (readonly [RegExp, (...parts: readonly string[]) => string])[] = [
  // Other systems do not normalize passwords, but ours does.
  [
    /^(\$argon2id\$v=19\$)((?!.*\bnfkc=)[^$]+)(\$.*)$/,
    (start, costs, rest) => `${start}${costs},${NORMALIZES}=0${rest}`,
  ],
  // passlib: https://passlib.readthedocs.io/en/stable/lib/passlib.hash.pbkdf2_digest.html
  [/^\$pbkdf2\$(\d+\$.*)$/, (rest) => `$pbkdf2-sha1$i=${rest}`],
  [/^(\$pbkdf2-sha(?:1|256|512)\$)(\d+\$.*)$/, (start, rest) => `${start}i=${rest}`],
  // Django, whose salt is text.
  [
    /^pbkdf2_(sha1|sha256)\$(\d+)\$([^$]+)\$([^$]+)$/,
    (digest, rounds, salt, hash) => `$pbkdf2-${digest}$i=${rounds}$${unpadded(Buffer.from(salt ?? ''))}$${hash}`,
  ],
  // better-auth and Lucia, whose salt is the text of hex digits, and which normalize.
  [
    /^(?:s2:)?([A-Za-z0-9]{16,64}):([0-9a-f]{128})$/,
    (salt, hash) =>
      `$scrypt$ln=14,r=16,p=1,${NORMALIZES}=1$${unpadded(Buffer.from(salt ?? ''))}$${unpadded(Buffer.from(hash ?? '', 'hex'))}`,
  ],
  // Firebase, as Supabase writes it.
  [
    /^(\$fbscrypt\$)v=1,n=(\d+),r=(\d+),p=(\d+)(?:,ss=([^,$]*))?,sk=([^,$]+)\$([^$]+)\$([^$]+)$/,
    (name = '', n, r, p, separator = '', ...others) =>
      withoutSignerKey(`$firebase-scrypt$ln=${n},r=${r},p=${p}`, [separator, ...others]) ?? name,
  ],
]

/**
 * Reads the hash that another system has made. `stored`: the text for `UserRecord.passwordHash`, under which the same password signs in.
 */
export function readForeignHash(
  text: string,
): { readonly stored: string; readonly format: HashFormat; readonly costs: string } | HashRefusal {
  const [pattern, rewrite] = NOTATIONS.find(([known]) => known.test(text)) ?? []
  const known = pattern === undefined || rewrite === undefined ? text : rewrite(...(pattern.exec(text) ?? []).slice(1))
  const stored = writtenOut(known)
  const read = readHash(stored)
  return typeof read === 'string' ? read : { stored, format: read.format, costs: read.costs }
}

/**
 * Firebase encrypts the signer key of its project by AES-CTR, under a key that scrypt derives from the password. The signer key is a secret of
 * the operator, and not needed to compare passwords: with it, the hash becomes the key stream, which depends on the password alone. `bytes`:
 * separator of the salt, signer key, salt and hash. Returns undefined if they do not fit together.
 */
function withoutSignerKey(costs: string, bytes: readonly string[]): string | undefined {
  const [separator, signerKey, salt, hash] = bytes.map((text) => (text === '' ? Buffer.alloc(0) : bytesOf(text)))
  const isWhole = separator !== undefined && salt !== undefined && signerKey !== undefined
  if (!isWhole || hash?.length !== signerKey.length) return undefined
  const stream = hash.map((byte, index) => byte ^ (signerKey[index] ?? 0))
  return formatPhc(costs, Buffer.concat([salt, separator]), Buffer.from(stream))
}
