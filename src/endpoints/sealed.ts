import type { Context } from '../ports/context.ts'
import { after, type EpochMs } from '../base/brand.ts'
import { isFromFuture } from '../base/clock.ts'
import { parseJson } from '../base/json.ts'
import type { SecretHash } from '../protocol/secrets.ts'

/** What the server seals, as JSON. Readers of the page can read it. */
export type SealedMembers = readonly (string | number | null | readonly string[])[]

/** What a value is sealed for: its kind, and everything that must be the same when it comes back, such as the browser. */
export interface Seal {
  readonly kind: 'second-step' | 'app-enabled' | 'passkey'
  readonly browserHash: SecretHash
  /** Such as the target of a sign-in. */
  readonly bound: readonly string[]
}

/** A sealed value that came back. */
export interface Opened {
  readonly madeAt: EpochMs
  readonly members: SealedMembers
  /** Uses the value up. false: it was used before. */
  readonly use: () => Promise<boolean>
}

/**
 * Seals a value that the server puts into a form and authenticates when the form comes back. Nothing is stored, no cookie is set, and the
 * value is useless in another browser and for another purpose.
 */
export function seal(context: Omit<Context, 'store'>, sealed: Seal, members: SealedMembers): string {
  const whole = [context.clockCheck.now(), context.random(16).toString('base64url'), members]
  const payload = Buffer.from(JSON.stringify(whole)).toString('base64url')
  return `${payload}.${context.secrets.digest('sealed', partsOf(sealed, payload))}`
}

/** Opens a sealed value. Returns undefined unless this server made it for this purpose and browser, at most `lifetimeMs` ago. */
export function openSealed(context: Context, sealed: Seal, text: string, lifetimeMs: number): Opened | undefined {
  const [payload = '', mac = ''] = text.split('.', 2)
  const parts = partsOf(sealed, payload)
  if (!context.secrets.digestMatches('sealed', parts, mac)) return undefined
  const whole = parseJson(Buffer.from(payload, 'base64url').toString())
  const [madeAt, , members] = whole as readonly [EpochMs, string, SealedMembers]
  const expiresAt = after(madeAt, lifetimeMs)
  const now = context.clockCheck.now()
  if (expiresAt <= now || isFromFuture(madeAt, now)) return undefined
  const digest = context.secrets.digest('sealed', ['used', ...parts])
  return {
    madeAt,
    members,
    use: async () => (await context.store.consumeOnce([{ digest, expiresAt }])) === 'fresh',
  }
}

function partsOf({ kind, browserHash, bound }: Seal, payload: string): readonly string[] {
  return [kind, browserHash, payload, ...bound]
}
