import { Secret, TOTP } from 'otpauth'
import { coversAll } from '../../src/endpoints/sign-in/changing-session.ts'
import { newRecoveryCodes } from '../../src/endpoints/second-factor/app.ts'
import { secretName } from '../../src/protocol/sign-in/totp.ts'
import type { Context } from '../../src/ports/context.ts'
import { EMAIL } from '../flow.ts'

/** An authenticator app: a released implementation, which Grantor's authors did not write. */
export interface App {
  /** The code that the app shows now, or so many steps later. */
  readonly code: (laterSteps?: number) => string
  /** A code that the app shows neither now nor in the steps around. */
  readonly wrongCode: () => string
  readonly recoveryCodes: readonly string[]
}

/** Stores an app of a user, by default the one of tools/flow.ts, whose codes are all unused. Ends the sessions of the user. */
export async function addApp({ context }: { readonly context: Context }, email = EMAIL): Promise<App> {
  const { clock, store, random, encryption } = context
  const user = await store.findUserByEmail(email)
  if (user === undefined) throw new Error(`${email} has no account.`)
  const secret = random(20)
  const { codes, digests } = newRecoveryCodes(context, user.id)
  // A sign-in sets no app up beside a passkey, and a session does.
  const session = (await store.listSessions({ userId: user.id, before: undefined, limit: 1 }))[0]
  const first = { since: clock(), passwordHash: user.passwordHash, providerId: undefined, identity: undefined }
  const signIn = { kind: 'sign-in', ...first, proof: undefined } as const
  const reason = session === undefined ? signIn : ({ kind: 'session', session: coversAll(session) } as const)
  const outcome = await store.enableTotp({
    factor: {
      userId: user.id,
      secret: encryption.encrypt(secretName(user.id), secret),
      lastStep: 0,
      failures: 0,
      createdAt: clock(),
      usedAt: undefined,
    },
    recoveryDigests: digests,
    mails: [],
    replaces: undefined,
    reason,
  })
  if (outcome !== 'enabled') throw new Error(`The store answers ${outcome}.`)
  return openApp(clock, new Secret({ buffer: new Uint8Array(secret).buffer }), codes)
}

/** The app that has a secret. */
export function openApp(clock: () => number, secret: Secret, recoveryCodes: readonly string[]): App {
  const totp = new TOTP({ secret })
  const code = (laterSteps = 0) => totp.generate({ timestamp: clock() + laterSteps * 30_000 })
  return {
    code,
    wrongCode() {
      const near = [-1, 0, 1].map(code)
      return ['000000', '111111', '222222', '333333'].find((one) => !near.includes(one)) ?? ''
    },
    recoveryCodes,
  }
}
