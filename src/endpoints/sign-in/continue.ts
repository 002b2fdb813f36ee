import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { InteractionRecord } from '../../ports/records/interaction.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import { after } from '../../base/brand.ts'
import { sessionOfInteraction, type UserId } from '../../protocol/ids.ts'
import { findInteractionOf } from '../../requests/find-interaction.ts'
import {
  APPLICATION,
  evaluateTime,
  methodsElsewhere,
  type EvaluatedTime,
  type StatedTime,
} from '../../protocol/sign-in/authentication.ts'
import {
  APPLICATION_TOLERANCE_MS,
  proofMatches,
  subjectKey,
  type AcceptedSignIn,
  type RejectedSignIn,
} from '../../protocol/sign-in/interaction.ts'
import { scopeTokens } from '../../protocol/token/scope.ts'
import { deny } from '../authorization/approval.ts'
import { openBrowser } from '../authorization/interaction.ts'
import type { ConsentAnswer } from '../authorization/next-step.ts'
import { chooseOrganization, findChoices, WITHOUT } from '../authorization/organization-choice.ts'
import { ruleRequest } from '../authorization/rule-request.ts'
import { chooseScope } from '../authorization/scope-choice.ts'
import { errorPage } from '../error-page.ts'
import { decideWithout } from '../authorization/step-up.ts'
import { loadScopeCatalog } from '../../requests/scope-catalog.ts'
import { finishSignIn, type DelegatedSession } from './finish-sign-in.ts'
import { signInProblem } from './page.ts'
import type { FirstStep } from './second-step/waiting.ts'
import { AFRESH, leaveAddress } from './methods.ts'
import { clientOf, continueWith, findTarget, readDemand, type SignInTarget } from './target.ts'

/**
 * Takes the browser back from the application, with the application's answer.
 *
 * The address has the interaction and a proof of the answer. Both are useless in another browser (threats.md DEL-01). The browser may
 * load the address several times, and gets the same code again; a session that has ended since is not started again.
 */
export async function continueSignIn(context: Context, request: Request): Promise<Reply> {
  const interaction = await findReturned(context, request)
  if ('kind' in interaction) return interaction
  const target = await findTarget(context, request, interaction.target)
  if ('kind' in target) return target
  const { answer } = interaction
  if (answer === undefined) {
    return signInProblem(context, target, { kind: 'not-answered' })
  }
  if (!proofMatches(context.secrets, { ...interaction, answer }, request.params.get('proof') ?? '')) {
    return errorPage('answer_proof_wrong', { client: clientOf(target)?.id })
  }
  // All tokens were revoked since. What the application says about a person later counts again.
  if ((interaction.answeredAt ?? 0) < (await context.notBefore()))
    return errorPage('everything_ended', { client: clientOf(target)?.id })
  return answer.kind === 'rejected'
    ? reject(context, target, answer)
    : accept(context, request, target, { ...interaction, answer })
}

async function findReturned(context: Context, request: Request): Promise<InteractionRecord | Reply> {
  const found = await findInteractionOf(context, request.params.get('interaction') ?? '')
  if (found === undefined) return errorPage('interaction_unknown')
  if (openBrowser(context, request) !== found.browserHash) return errorPage('browser_differs')
  const isOff = context.settings.delegate === undefined
  return isOff || found.expiresAt <= context.clockCheck.now() ? errorPage('interaction_expired') : found
}

/** The person said no, or cannot sign in: the client gets the error. An account page has no client, and can be tried again. */
async function reject(context: Context, target: SignInTarget, { error }: RejectedSignIn): Promise<Reply> {
  if (target.purpose === 'account') {
    return signInProblem(context, target, { kind: 'application-refused' })
  }
  const fault = error === 'access_denied' ? undefined : ({ error, reason: 'rejected_by_application' } as const)
  return deny(context, target, undefined, fault, {})
}

type Accepted = InteractionRecord & { readonly answer: AcceptedSignIn }

async function accept(context: Context, request: Request, target: SignInTarget, accepted: Accepted): Promise<Reply> {
  const evaluated = evaluateAnswer(accepted, target)
  if (evaluated.kind !== 'accepted') {
    const location = leaveAddress(context, target, AFRESH)
    return location === undefined ? errorPage('not_delegated') : { kind: 'redirect', location }
  }
  const user = await findSubject(context, accepted.answer)
  if (user === undefined) return refuseAccount(context, target, undefined)
  const methods = methodsElsewhere(accepted.answer.isMultiFactor)
  const delegated = await delegatedSession(context, target, accepted, { user, methods, at: evaluated.at })
  const identity = subjectKey(accepted.answer.subject)
  const method = { methods, at: evaluated.at, providerId: APPLICATION, identity }
  const authenticated = {
    user,
    ...method,
    link: undefined,
    groups: undefined,
    passkey: undefined,
    app: undefined,
    stepUp: undefined,
    endsAt: undefined,
    delegated,
  }
  const finished = await finishSignIn(context, request, target, authenticated)
  if (finished.kind !== 'refused') return finished
  return finished.reason === 'repeated'
    ? repeat(context, target, delegated, user)
    : refuseAccount(context, target, user.id)
}

/**
 * Judges when the person authenticated. `interaction.accept` has refused a time that is too old, so that what is left is an application
 * that says no time: it is asked once more, for a new sign-in, where a client says how old the sign-in may be.
 */
function evaluateAnswer({ answer, answeredAt, createdAt, signInAfter }: Accepted, target: SignInTarget): EvaluatedTime {
  const { authenticatedAt } = answer
  const stated: StatedTime = authenticatedAt === undefined ? { kind: 'unsaid' } : { kind: 'said', at: authenticatedAt }
  const now = answeredAt ?? createdAt
  return evaluateTime(stated, readDemand(target, signInAfter), { now, toleranceMs: APPLICATION_TOLERANCE_MS })
}

function refuseAccount(context: Context, target: SignInTarget, userId: UserId | undefined): Promise<Reply> {
  return signInProblem(context, target, { kind: 'account-refused' }, userId)
}

/** The user of the subject. The account was made when the application answered; if it is gone, it was deleted since. */
async function findSubject({ store }: Context, { subject }: AcceptedSignIn): Promise<UserRecord | undefined> {
  const identity = await store.findIdentity(subjectKey(subject))
  return identity === undefined ? undefined : store.findUser(identity.userId)
}

/** A repeated load, such as that of a double click, continues with the session of the first one, if it has not ended since. */
async function repeat(
  context: Context,
  target: SignInTarget,
  { id, credential, isKept, consent }: DelegatedSession,
  user: UserRecord,
): Promise<Reply> {
  const session = await context.store.findSession(id)
  if (session === undefined || session.createdAt < user.notBefore) return errorPage('answer_used', { user: user.id })
  return continueWith(context, target, { session, user }, isKept ? { session: credential } : {}, consent)
}

/**
 * The session that follows from the answer. It has the id of the interaction, and a credential that is derived, so that a repeated load
 * sets the same cookie. Without a page of this server to come, and nothing to remember, no cookie is set, and only the record of the
 * sign-in remains for as long as the code.
 */
async function delegatedSession(
  context: Context,
  target: SignInTarget,
  { id, hash, answer, expiresAt: deadline }: Accepted,
  signedIn: Pick<FirstStep, 'user' | 'methods' | 'at'>,
): Promise<DelegatedSession> {
  const { rememberSeconds } = answer
  const { lifetimes } = context.settings
  const now = context.clockCheck.now()
  const consent = consentOf(target, answer)
  const hasPage = await leavesOpen(context, target, signedIn, consent)
  const remembered = after(now, Math.min(rememberSeconds, lifetimes.session) * 1000)
  const isKept = hasPage || rememberSeconds > 0
  const least = hasPage ? deadline : after(now, lifetimes.code * 1000)
  return {
    interactionId: id,
    id: sessionOfInteraction(id),
    credential: context.secrets.derive('session', id, [hash]),
    expiresAt: remembered > least ? remembered : least,
    isKept,
    consent,
  }
}

/**
 * The application's decision takes the place of the form of the consent page. For a device only if the application says that the person
 * confirmed it: one that does not know of devices would connect those of phishers (decision 0039).
 */
function consentOf(
  target: SignInTarget,
  { decision, organizationId, scope, isOwnDevice }: AcceptedSignIn,
): ConsentAnswer {
  const isOfDevice = target.purpose === 'authorization' && target.authorization.device !== undefined
  if (decision === 'ask' || (isOfDevice && isOwnDevice !== true)) return { kind: 'not-asked' }
  const allowed = scope === undefined ? undefined : new Set(scopeTokens(scope))
  return {
    kind: 'allow',
    isRemembered: false,
    organization: organizationId === null ? WITHOUT : organizationId,
    isAllowed: (token) => allowed?.has(token) ?? true,
    isOwnDevice: isOwnDevice === true,
    isOfApplication: true,
  }
}

/** Whether the user sees a page of this server next: the answer leaves the consent, the organization or the scope open. */
async function leavesOpen(
  context: Context,
  target: SignInTarget,
  { user, ...authentication }: Pick<FirstStep, 'user' | 'methods' | 'at'>,
  consent: ConsentAnswer,
): Promise<boolean> {
  if (target.purpose === 'account' || consent.kind !== 'allow') return true
  const choices = await findChoices(context, target.authorization, user.id)
  if (choices.kind === 'not-a-member') return false
  if (typeof chooseOrganization(choices, consent.organization) === 'string') return true
  const ruled = await ruleRequest(context, target, user.id, target.authorization.organizationId)
  if (ruled.nothing !== undefined) return false
  const decided = await decideWithout(context, ruled.allowed, authentication, user.id)
  if (decided.kind === 'unmet') return false
  return chooseScope(await loadScopeCatalog(context), decided.allowed, consent.isAllowed) === 'scope-missing'
}
