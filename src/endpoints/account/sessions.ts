import type { SessionNetwork, SessionView } from '../../ports/pages/account.ts'
import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { ProviderRecord } from '../../ports/records/provider.ts'
import type { SessionRecord } from '../../ports/records/user.ts'
import { secondsSince, type EpochMs } from '../../base/brand.ts'
import { isThisMachine } from '../../base/networks-around.ts'
import { APPLICATION, type Authentication } from '../../protocol/sign-in/authentication.ts'
import { parseSessionId } from '../../protocol/ids.ts'
import { isLiveSession } from '../../tokens/invalid-principal.ts'
import { revocationCutoff } from '../../tokens/revocation-cutoff.ts'
import { endOf, type SignedIn } from '../authorization/session.ts'
import { doneAt, frameOf } from './frame.ts'

/** The newest sessions that are shown. A browser has one for at most GRANTOR_SESSION_LIFETIME. */
const SESSION_LIMIT = 100

/** Shows the browsers in which the user is signed in. */
export async function showSessions(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  const now = context.clock()
  const [sessions, serverNotBefore, providers] = await Promise.all([
    context.store.listSessions({ userId: owner.user.id, before: undefined, limit: SESSION_LIMIT }),
    context.notBefore(),
    context.providers(),
  ])
  const live = sessions.filter((session) => isLiveSession(session, owner.user, { now, serverNotBefore }))
  return {
    kind: 'page',
    status: 200,
    page: {
      kind: 'account-sessions',
      frame: await frameOf(context, request, owner),
      sessions: live.map((session) => viewSession(owner, session, providers, now)),
    },
  }
}

/**
 * Ends a session of the user, or all but that of this browser. A session of another user, and one that does not exist, get the
 * same answer (threats.md ACC-06).
 */
export async function endSessions(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  const { session, user } = owner
  if (request.params.get('others') !== undefined) {
    await context.store.endOtherSessions({ userId: user.id, keep: session.id, ...revocationCutoff(context) })
    return { ...doneAt(context, request, 'sessions', 'sessions-ended'), event: { event: 'session.ended' } }
  }
  const id = parseSessionId(request.params.get('session') ?? '')
  const found = id === undefined ? undefined : await context.store.findSession(id)
  if (found?.userId === user.id) await context.store.endSession(endOf(context, { session: found, user }))
  return { ...doneAt(context, request, 'sessions', 'session-ended'), event: { event: 'session.ended' } }
}

function viewSession(
  owner: SignedIn,
  session: SessionRecord,
  providers: readonly ProviderRecord[],
  now: EpochMs,
): SessionView {
  const { id, agent, network, authentication, createdAt, seenAt } = session
  return {
    hidden: id === owner.session.id ? undefined : { session: id },
    agent,
    methods: authentication.methods,
    provider: viewProvider(authentication, providers),
    network: network === undefined ? undefined : viewNetwork(network),
    startedSecondsAgo: secondsSince(createdAt, now),
    seenSecondsAgo: id === owner.session.id ? 0 : secondsSince(seenAt, now),
  }
}

/** The name of the provider, also of one that was removed. undefined: this server or the operator's application signed the user in. */
function viewProvider({ providerId }: Authentication, providers: readonly ProviderRecord[]): string | undefined {
  if (providerId === undefined || providerId === APPLICATION) return undefined
  return providers.find(({ id }) => id === providerId)?.settings.name ?? providerId
}

function viewNetwork(network: string): SessionNetwork {
  return isThisMachine(network) ? { kind: 'this-computer' } : { kind: 'network', name: network }
}
