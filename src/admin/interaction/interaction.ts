import type { Context } from '../../ports/context.ts'
import type { AuthorizationRecord } from '../../ports/records/authorization.ts'
import type { InteractionRecord } from '../../ports/records/interaction.ts'
import { findWaitingDevice, type WaitingDevice } from '../../requests/device.ts'
import { evaluateAuthorized, type AllowedClient } from '../../clients/evaluate-client.ts'
import { findInteractionOf } from '../../requests/find-interaction.ts'
import { after } from '../../base/brand.ts'
import type { AccessRule } from '../../protocol/access/rule.ts'
import { mintUserId, parseAuthorizationId } from '../../protocol/ids.ts'
import {
  answerText,
  APPLICATION_TOLERANCE_MS,
  continueAddress,
  subjectKey,
  type AcceptedSignIn,
  type InteractionAnswer,
} from '../../protocol/sign-in/interaction.ts'
import { meetsAcr, reachableLevel } from '../../protocol/sign-in/acr.ts'
import { isWithin, NO_SCOPE, type Scope } from '../../protocol/token/scope.ts'
import { problem, type ProblemType } from '../../base/validation.ts'
import { AdminError, unknown, type AdminErrorKind } from '../admin-error.ts'
import { iso } from '../../base/iso.ts'
import { ALWAYS_MET, findRuling } from '../../tokens/access-rules.ts'
import { findGroupsElsewhere, provisionSubject } from '../user/subject.ts'

/** What an interaction is about. */
export type InteractionPurpose =
  | ({
      readonly kind: 'authorization'
      readonly authorization: AuthorizationRecord
      /** undefined: the client has sent the browser. */
      readonly device: WaitingDevice | undefined
    } & AllowedClient)
  | { readonly kind: 'account' }

/** An interaction that the application may read. */
export interface ShownInteraction {
  readonly interaction: InteractionRecord
  readonly purpose: InteractionPurpose
}

/**
 * Finds an interaction for the application.
 *
 * @throws AdminError when there is none (`unknown`), or `interaction_expired`, `client_gone`
 */
export async function showInteraction(context: Context, token: string): Promise<ShownInteraction> {
  const interaction = await requireInteraction(context, token)
  return { interaction, purpose: await requirePurpose(context, interaction) }
}

/** What access rules leave out for a person. */
interface Withheld {
  /** null: what has no scope. */
  readonly scope: string | null
  readonly rule: string
  readonly sentence: string | null
}

/**
 * Finds what access rules leave out for a person of the application, who may have no account yet. A level that a rule demands leaves nothing
 * out here: the person may reach it. null: it is not said who the person is.
 */
export async function findWithheld(
  context: Context,
  { purpose }: ShownInteraction,
  subject: string | undefined,
): Promise<Withheld[] | null> {
  if (subject === undefined) return null
  if (purpose.kind === 'account') return []
  const { client, authorization } = purpose
  const { organizationId, scope, resources } = authorization
  const identity = await context.store.findIdentity(subjectKey(subject))
  // A new person is in no group and in no organization.
  const userId = identity?.userId ?? mintUserId(context.clock(), context.random)
  const ruling = await findRuling(context, { client, userId, organizationId, scope, resources }, ALWAYS_MET)
  if (ruling === undefined) return []
  const { takenBy, takesBare } = ruling
  const said = (token: string | null, { id, sentence }: AccessRule): Withheld => ({
    scope: token,
    rule: id,
    sentence: sentence ?? null,
  })
  const leftOut = [...takenBy].map(([token, rule]) => said(token, rule))
  return takesBare === undefined ? leftOut : [...leftOut, said(null, takesBare)]
}

/**
 * Stores the answer of the application, and returns the address that the application redirects the browser to. The same answer again
 * has the same address.
 *
 * @throws AdminError when there is no such interaction (`unknown`), or `interaction_expired`, `already_answered`, `client_gone`,
 * `sign_in_too_old`, `multi_factor_needed`, `scope_wider`, `unknown_groups`, `value_error`
 */
export async function answerInteraction(context: Context, token: string, answer: InteractionAnswer): Promise<string> {
  const interaction = await requireInteraction(context, token)
  const { id, browserHash, uiLocales } = interaction
  const address = continueAddress(context.issuer, context.secrets, token, { id, browserHash, answer }, uiLocales)
  if (interaction.answer !== undefined) {
    if (answerText(interaction.answer) === answerText(answer)) return address
    throw alreadyAnswered()
  }
  const purpose = await requirePurpose(context, interaction)
  const clientId = purpose.kind === 'authorization' ? purpose.client.id : undefined
  if (answer.kind === 'accepted') {
    checkAcceptance(context, interaction, purpose, answer)
    await checkGroups(context, answer)
    await provisionSubject(context, answer)
  }
  switch (await context.store.answerInteraction({ id, answer, now: context.clock(), about: { clientId } })) {
    case 'answered':
    case 'repeated':
      return address
    case 'conflict':
      throw alreadyAnswered()
    case 'unknown':
      throw expired()
  }
}

async function requireInteraction(context: Context, token: string): Promise<InteractionRecord> {
  const interaction = await findInteractionOf(context, token)
  if (interaction === undefined) {
    throw unknown('There is no such interaction. It may have expired: the person has to start again at the client.')
  }
  return interaction
}

async function requirePurpose(
  context: Context,
  { target, expiresAt, answer }: InteractionRecord,
): Promise<InteractionPurpose> {
  const now = context.clock()
  if (expiresAt <= now) throw expired()
  const authorizationId = parseAuthorizationId(target)
  if (authorizationId === undefined) return { kind: 'account' }
  const authorization = await context.store.findAuthorization(authorizationId)
  if (authorization === undefined) throw expired()
  // The request is completed when the browser has returned with the answer.
  if (authorization.status.kind !== 'pending' && answer === undefined) throw expired()
  const client = await context.store.findClient(authorization.clientId)
  if (client === undefined || client.disabledAt !== undefined) throw clientGone()
  const allowed = await evaluateAuthorized(context, client, authorization)
  if (allowed === 'refused') throw clientGone()
  const device = await findWaitingDevice(context, authorization)
  if (authorization.device !== undefined && device === undefined) throw expired()
  return { kind: 'authorization', authorization, device, ...allowed }
}

function checkAcceptance(
  { clock, settings }: Context,
  { signInAfter }: InteractionRecord,
  purpose: InteractionPurpose,
  { decision, organizationId, scope, authenticatedAt, isMultiFactor, rememberSeconds }: AcceptedSignIn,
): void {
  if (decision === 'allow' && settings.delegate?.mode === 'sign-in') {
    throw invalid('decision', 'This server asks for the consent itself, because GRANTOR_DELEGATE is sign-in. Send ask.')
  }
  if (decision === 'ask' && (organizationId !== undefined || scope !== undefined)) {
    throw invalid('decision', 'With ask, the person chooses the organization and the scope on the page of this server.')
  }
  if (rememberSeconds > settings.lifetimes.session) {
    throw invalid(
      'remember_seconds',
      `This must be at most GRANTOR_SESSION_LIFETIME, ${settings.lifetimes.session} seconds.`,
    )
  }
  if (authenticatedAt !== undefined && authenticatedAt > after(clock(), APPLICATION_TOLERANCE_MS)) {
    throw invalid('authenticated_at', 'The time is in the future.')
  }
  const isOld =
    signInAfter !== undefined &&
    authenticatedAt !== undefined &&
    after(authenticatedAt, APPLICATION_TOLERANCE_MS) < signInAfter
  if (isOld) {
    throw fault('conflict', ['body', 'authenticated_at'], 'sign_in_too_old', 'The person must authenticate again.', {
      sign_in_after: iso(signInAfter),
    })
  }
  if (!isMultiFactor && purpose.kind === 'authorization' && isMultiFactorEssential(purpose.authorization)) {
    const msg = 'The client requires a sign-in with two factors. Ask the person for them, or reject the interaction.'
    throw fault('conflict', ['body', 'multi_factor'], 'multi_factor_needed', msg, {})
  }
  const wanted = purpose.kind === 'authorization' ? purpose.authorization.organizationId : undefined
  if (wanted !== undefined && organizationId !== undefined && organizationId !== wanted) {
    throw invalid(
      'organization_id',
      `The client asks for ${wanted}. Send that, leave it out, or reject the interaction.`,
    )
  }
  if (scope === undefined) return
  const requested = purpose.kind === 'authorization' ? purpose.authorization.scope : NO_SCOPE
  if (!isWithin(scope, requested))
    throw fault('refused', ['body', 'scope'], 'scope_wider', requestedText(purpose, requested), {})
}

/** The operation that writes the groups leaves those out that end at this moment. */
async function checkGroups(context: Context, answer: AcceptedSignIn): Promise<void> {
  const groups = await findGroupsElsewhere(context, answer)
  if (groups.length === 0) return
  const msg = `These groups do not exist, or are of an organization in which the person is no active member: ${groups.join(', ')}`
  throw fault('conflict', ['body', 'groups'], 'unknown_groups', msg, { groups })
}

function requestedText({ kind }: InteractionPurpose, requested: Scope): string {
  if (kind === 'account') return 'No client asks here. Leave scope out.'
  return requested === NO_SCOPE ? 'The client requested no scope.' : `The client requested: ${requested}`
}

/** Whether the client accepts no other sign-in, and two factors are enough for it. */
function isMultiFactorEssential({ authentication }: AuthorizationRecord): boolean {
  return (
    authentication?.isEssential === true &&
    !meetsAcr(authentication, 1) &&
    reachableLevel(authentication, 2) !== undefined
  )
}

function invalid(member: string, msg: string): AdminError {
  return fault('refused', ['body', member], 'value_error', msg, {})
}

function expired(): AdminError {
  const msg = 'The interaction has expired, or the request was answered in another way. The person has to start again.'
  return fault('conflict', ['path', 'interaction'], 'interaction_expired', msg, {})
}

function alreadyAnswered(): AdminError {
  return fault(
    'conflict',
    ['path', 'interaction'],
    'already_answered',
    'The interaction already has a different answer.',
    {},
  )
}

function clientGone(): AdminError {
  return fault('conflict', ['path', 'interaction'], 'client_gone', 'The client can no longer be used.', {})
}

function fault(
  kind: AdminErrorKind,
  loc: readonly string[],
  type: ProblemType,
  msg: string,
  ctx: Readonly<Record<string, unknown>>,
): AdminError {
  return new AdminError(msg, kind, [problem(loc, type, msg, null, ctx)])
}
