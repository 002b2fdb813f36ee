import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { AuthorizationRecord } from '../../ports/records/authorization.ts'
import type { DeviceView } from '../../ports/pages/device.ts'
import type { ResourceView, ScopeView } from '../../ports/pages/parts.ts'
import type { OrganizationView } from '../../ports/pages/pages.ts'
import { describeAccess } from '../../clients/access-view.ts'
import { destinationOf, findWaitingDevice, type WaitingDevice } from '../../requests/device.ts'
import { secondsSince, type EpochMs } from '../../base/brand.ts'
import { interactionOfSession } from '../../protocol/ids.ts'
import type { Parameters } from '../../base/message.ts'
import { NO_SCOPE, scopeTokens, type Scope } from '../../protocol/token/scope.ts'
import { formTarget, viewClient } from './client-view.ts'
import { errorPage, formRefusal } from '../error-page.ts'
import { authorizationIn, findInteraction, findOpenInteraction, isCrossSite, type Interaction } from './interaction.ts'
import { nextStep, takeStep, type Allowed, type ConsentAnswer, type Step, type UserAnswer } from './next-step.ts'
import { WITHOUT, type OpenChoices } from './organization-choice.ts'
import type { RuledRequest } from './rule-request.ts'
import { boxOf, choosableScopes, readBoxes } from './scope-choice.ts'
import { PATHS, pageAddress } from '../paths.ts'
import { findSignedIn, viewAccount, type SignedIn } from './session.ts'
import { declineParts, findAddableLevel } from './step-up.ts'

/** The box of the form that says that the device is an own one. */
const DEVICE_BOX = 'own_device'
/** The field of the form that says that the user continues without a factor. */
const DECLINED_FIELD = 'without_step_up'

/** Shows the consent page to the user who is signed in (decision 0022). */
export async function showConsent(context: Context, request: Request): Promise<Reply> {
  const interaction = await findOpenInteraction(context, request)
  if ('kind' in interaction) return interaction
  const signedIn = await findAsked(context, request, interaction)
  return reply(context, interaction, signedIn, { kind: 'asked' })
}

/** Goes on with the request of a user who does not confirm with a factor. The consent page remembers it in its form. */
export function continueWithout(context: Context, interaction: Interaction, signedIn: SignedIn): Promise<Reply> {
  return reply(context, interaction, signedIn, { kind: 'not-asked', declinesStepUp: true })
}

/**
 * Accepts the answer from the consent page.
 *
 * The form names the authorization, says `allow` or `deny`, and may name one of the user's organizations; everything else comes
 * from the store (threats.md UI-02). The token in the form is valid for this browser, this authorization and the user to whom
 * the page was shown.
 */
export async function consent(context: Context, request: Request): Promise<Reply> {
  if (isCrossSite(request)) return errorPage('form_of_another_site')
  const interaction = await findInteraction(context, request, authorizationIn(request))
  if ('kind' in interaction) return interaction
  const [formToken, userToken] = (request.params.get('csrf') ?? '').split('.', 2)
  if (!context.secrets.digestMatches('csrf', formParts(interaction), formToken ?? ''))
    return errorPage('form_token_wrong', { client: interaction.client.id })
  const signedIn = await findAsked(context, request, interaction)
  const isOtherUser =
    signedIn !== undefined && !context.secrets.digestMatches('csrf', userParts(interaction, signedIn), userToken ?? '')
  const known = { client: interaction.client.id, user: signedIn?.user.id }
  if (isOtherUser) return errorPage('user_changed', known)
  const answer = parseAnswer(request.params, interaction.authorization)
  if (answer === undefined) return errorPage('decision_missing', known)
  const declined = request.params.get(DECLINED_FIELD)
  const declinesStepUp =
    declined !== undefined &&
    signedIn !== undefined &&
    context.secrets.digestMatches('csrf', declineParts(interaction, signedIn), declined)
  return reply(context, interaction, signedIn, { ...answer, declinesStepUp })
}

/**
 * The user whom this server may ask for the consent. If the operator's application does that, the session must follow from its answer
 * to this request; another user is sent to the application.
 */
async function findAsked(
  context: Context,
  request: Request,
  { authorization }: Interaction,
): Promise<SignedIn | undefined> {
  const signedIn = await findSignedIn(context, request.cookies)
  if (signedIn === undefined || context.settings.delegate?.mode !== 'everything') return signedIn
  const answered = await context.store.findInteraction(interactionOfSession(signedIn.session.id))
  return answered?.target === authorization.id && answered.answer?.kind === 'accepted' ? signedIn : undefined
}

function parseAnswer(params: Parameters, authorization: AuthorizationRecord): ConsentAnswer | undefined {
  const decision = params.get('decision')
  if (decision === 'deny') return { kind: 'deny' }
  if (decision !== 'allow') return undefined
  return {
    kind: 'allow',
    isRemembered: true,
    organization: params.get('organization'),
    isAllowed: readBoxes(params, authorization),
    isOwnDevice: params.get(DEVICE_BOX) !== undefined,
    isOfApplication: false,
  }
}

async function reply(
  context: Context,
  interaction: Interaction,
  signedIn: SignedIn | undefined,
  answer: UserAnswer,
): Promise<Reply> {
  const step = await nextStep(context, interaction, signedIn, answer)
  if (step.kind !== 'consent') return takeStep(context, interaction, step, {})
  return consentPage(context, interaction, step, answer.declinesStepUp === true)
}

async function consentPage(
  context: Context,
  interaction: Interaction,
  { signedIn, choices, ruled, withheld, problem, answer }: Extract<Step, { readonly kind: 'consent' }>,
  declinesStepUp: boolean,
): Promise<Reply> {
  const { authorization, uiLocales } = interaction
  const { user } = signedIn
  const known = { client: interaction.client.id, user: user.id }
  const device = await findWaitingDevice(context, authorization)
  if (authorization.device !== undefined && device === undefined) return errorPage('authorization_expired', known)
  if ((device?.authorizationId ?? authorization.id) !== authorization.id)
    return errorPage('authorization_decided', known)
  const formToken = context.secrets.digest('csrf', formParts(interaction))
  const userToken = context.secrets.digest('csrf', userParts(interaction, signedIn))
  const declined = declinesStepUp
    ? { [DECLINED_FIELD]: context.secrets.digest('csrf', declineParts(interaction, signedIn)) }
    : {}
  const { scopes, resources } = await describeTarget(context, authorization, {
    ruled,
    withheld,
    declinesStepUp,
    answer,
  })
  const isAddable =
    withheld !== NO_SCOPE && !declinesStepUp && (await findAddableLevel(context, authorization, signedIn)) !== undefined
  return {
    kind: 'page',
    status: problem === undefined ? 200 : 400,
    ...(problem === undefined ? {} : { event: formRefusal(problem, known) }),
    formTarget: formTarget(authorization.redirectUri),
    page: {
      kind: 'consent',
      action: pageAddress(context.issuer, PATHS.consent, { uiLocales }),
      hidden: { authorization: authorization.id, csrf: `${formToken}.${userToken}`, ...declined },
      client: viewClient(interaction, destinationOf(authorization), context.clock()),
      scopes,
      nothing: ruled.nothing?.sentences,
      setUpUri: isAddable
        ? pageAddress(context.issuer, PATHS.setUpFactor, { authorization: authorization.id, uiLocales })
        : undefined,
      resources,
      account: viewAccount(user),
      organization: viewChoices(choices, answer),
      problem,
      device: device === undefined ? undefined : viewDevice(device, context.clock(), answer),
      appsUri: pageAddress(context.issuer, PATHS.accountApps, { uiLocales }),
      switchUri: pageAddress(context.issuer, PATHS.signIn, {
        authorization: authorization.id,
        uiLocales,
      }),
    },
  }
}

function viewDevice(device: WaitingDevice, now: EpochMs, answer: Allowed | undefined): DeviceView {
  const { userCode, createdAt, isSameNetwork, network } = device
  const box = { network, box: DEVICE_BOX, isChecked: answer?.isOwnDevice === true }
  return { userCode, askedSecondsAgo: secondsSince(createdAt, now), elsewhere: isSameNetwork ? undefined : box }
}

/**
 * The organizations as the page lists them. The organization of a user who belongs to one is preselected. A user who belongs to
 * several must choose each time: a wrong default would give the app the data of another organization. What the user has chosen on
 * the page stays selected.
 */
function viewChoices(choices: OpenChoices, answer: Allowed | undefined): OrganizationView | undefined {
  if (choices.kind === 'fixed') return { kind: 'fixed', name: choices.organization.name }
  const { organizations } = choices
  const [only, another] = organizations
  if (only === undefined) return undefined
  const isAmbiguous = (name: string): boolean => organizations.filter((one) => one.name === name).length > 1
  const selected = answer === undefined && another === undefined ? only.id : answer?.organization
  const options = [
    ...organizations.map(({ id, name }) => ({ value: id, name: isAmbiguous(name) ? `${name} (${id})` : name })),
    { value: WITHOUT, name: undefined },
  ]
  return { kind: 'choice', options, selected: options.find(({ value }) => value === selected)?.value }
}

async function describeTarget(
  context: Context,
  authorization: AuthorizationRecord,
  given: {
    readonly ruled: RuledRequest
    readonly withheld: Scope
    readonly declinesStepUp: boolean
    readonly answer: Allowed | undefined
  },
): Promise<{ scopes: readonly ScopeView[]; resources: readonly ResourceView[] }> {
  const choosable = choosableScopes(authorization)
  const missing = new Set(scopeTokens(given.withheld))
  const lack = given.declinesStepUp ? 'declined' : 'withheld'
  const { scopes, resources } = describeAccess(await context.apis(), authorization)
  const boxes = scopes.map(({ name, sentences }) => ({
    name,
    sentences,
    box: given.ruled.leftOut.has(name)
      ? ({ kind: 'ruled', sentence: given.ruled.leftOut.get(name)?.sentence } as const)
      : missing.has(name)
        ? lack
        : boxFor(name, choosable, given.answer),
  }))
  return { scopes: boxes, resources }
}

function boxFor(name: string, choosable: readonly string[], answer: Allowed | undefined): ScopeView['box'] {
  return choosable.includes(name) ? { name: boxOf(name), isChecked: answer?.isAllowed(name) ?? true } : undefined
}

function formParts({ authorization, browserHash }: Interaction): readonly string[] {
  return ['consent', authorization.id, browserHash]
}

function userParts(interaction: Interaction, { user }: SignedIn): readonly string[] {
  return [...formParts(interaction), user.id]
}
