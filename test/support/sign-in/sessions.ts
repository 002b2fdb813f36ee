import assert from 'node:assert/strict'
import { PlainBrowser } from '../../../tools/flow.ts'
import type { SessionRecord, UserRecord } from '../../../src/ports/records/user.ts'
import type { AuthenticationMethod, ProviderId } from '../../../src/protocol/sign-in/authentication.ts'
import { mintSessionId } from '../../../src/protocol/ids.ts'
import { findRequiredProvider } from '../../../src/users/provider-routing.ts'
import { aHash, aSession } from '../records.ts'
import type { TestServer } from '../server.ts'
import { SESSION_COOKIE } from '../session-cookie.ts'

/** A browser with a session of a user that started now, by these methods, at the provider that the address requires if there is one. */
export async function signedInBy(
  server: TestServer,
  { id: userId, email, passwordHash, notBefore }: UserRecord,
  methods: readonly AuthenticationMethod[],
): Promise<{ readonly browser: PlainBrowser; readonly session: SessionRecord }> {
  const { clock, context } = server
  const { random, secrets, store } = context
  const now = clock.now()
  const id = mintSessionId(now, random)
  const { hash, token } = secrets.mint('session', id, random)
  const required = findRequiredProvider(await store.listProviders(), email)
  const providerId = required?.id ?? (methods.includes('fed') ? ('idp' as ProviderId) : undefined)
  const authentication = { methods, at: now, providerId }
  const session = aSession({ id, hash, userId, rootId: id, authentication, createdAt: now, seenAt: now })
  const started = await store.startSession({
    session,
    browserHash: aHash(),
    replaces: undefined,
    passwordHash,
    notBefore,
    interactionId: undefined,
    identity: undefined,
    link: undefined,
    groups: undefined,
    stepUp: undefined,
    passkey: undefined,
    app: undefined,
    isSecondStepDone: true,
  })
  assert.equal(started.kind, 'started')
  const browser = new PlainBrowser(server)
  // The page that it is sent to gives the browser a cookie of its own.
  await browser.get('/account')
  browser.cookies.set(SESSION_COOKIE, token)
  return { browser, session }
}
