import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto'
import type { Encryption } from '../ports/context.ts'
import type { Random } from '../protocol/ids.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** AES-256-GCM: nonce, tag and ciphertext, base64url. `id` names the row, so that the text cannot be moved to another row. */
export function encrypt(plain: Uint8Array, id: string, random: Random, key: KeyObject): string {
  const nonce = random(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(id))
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
}

/** @throws Error if the text was encrypted under another key or for another row, or was changed */
export function decrypt(text: string, id: string, key: KeyObject): Buffer {
  const bytes = Buffer.from(text, 'base64url')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(id)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
}

/** The same for use cases, which take a text that cannot be decrypted as a fact. */
export function openEncryption(key: KeyObject, random: Random): Encryption {
  return {
    encrypt: (name, plain) => encrypt(plain, name, random, key),
    decrypt(name, text) {
      try {
        return decrypt(text, name, key)
      } catch {
        return undefined
      }
    },
  }
}
