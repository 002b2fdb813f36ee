import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { ApiScope } from '../../ports/records/api.ts'
import type { AuthorizationRecord } from '../../ports/records/authorization.ts'
import type { ConsentProblem, OrganizationView, ResourceView, ScopeView } from '../../ports/pages.ts'
import { NO_SCOPE, scopeTokens } from '../../protocol/scope.ts'
import { formTarget, viewClient } from './client-view.ts'
import { approve, deny } from './approval.ts'
import { errorPage } from '../error-page.ts'
import { findInteraction, findOpenInteraction, isCrossSite, type Interaction } from './interaction.ts'
import { findChoices, type OrganizationChoices, type OwnOrganization } from './organization-choice.ts'
import { PATHS, pageAddress } from '../paths.ts'
import { NOT_A_MEMBER, refuseStarted } from './authorization-error.ts'
import { findSignedIn, type SignedIn } from './session.ts'

/** The question, for the person who is signed in (decisions.md D8). */
export async function showConsent(context: Context, request: Request): Promise<Reply> {
  const interaction = await findOpenInteraction(context, request)
  if ('kind' in interaction) return interaction
  const signedIn = await findSignedIn(context, request.cookies)
  if (signedIn === undefined || !mayAnswer(interaction.authorization, signedIn)) return toSignIn(context, interaction)
  const choices = await findChoices(context, interaction.authorization, signedIn.user.id)
  if (choices.kind === 'not-a-member') return refuseStarted(context, interaction, signedIn.user.id, NOT_A_MEMBER)
  return consentPage(context, interaction, signedIn, choices, undefined)
}

/**
 * The answer. Only what the server kept about the authorization counts; the form names it, says `allow` or `deny`, and for
 * which of the person's own organizations (threats.md UI-02). The token in the form holds for this browser, this authorization and the person it was shown to.
 */
export async function consent(context: Context, request: Request): Promise<Reply> {
  if (isCrossSite(request)) return errorPage('forged')
  const interaction = await findInteraction(context, request)
  if ('kind' in interaction) return interaction
  const { authorization, client } = interaction
  const [formToken, userToken] = (request.params.get('csrf') ?? '').split('.', 2)
  if (!context.secrets.digestMatches('csrf', formParts(interaction), formToken ?? '')) return errorPage('forged')
  const signedIn = await findSignedIn(context, request.cookies)
  if (signedIn === undefined || !mayAnswer(authorization, signedIn)) return toSignIn(context, interaction)
  const isSamePerson = context.secrets.digestMatches('csrf', userParts(interaction, signedIn), userToken ?? '')
  if (!isSamePerson) return errorPage('user-changed')

  const userId = signedIn.user.id
  const decision = request.params.get('decision')
  if (decision === 'deny') return deny(context, authorization, userId)
  if (decision !== 'allow') return errorPage('request-malformed')
  const choices = await findChoices(context, authorization, userId)
  if (choices.kind === 'not-a-member') return refuseStarted(context, interaction, userId, NOT_A_MEMBER)
  const chosen = readChoice(choices, request.params.get('organization'))
  if (typeof chosen === 'string') return consentPage(context, interaction, signedIn, choices, chosen)
  return approve(context, authorization, client, { userId, ...chosen }, {})
}

/** What stands in the form for "without an organization". */
const WITHOUT = 'none'

/**
 * The organization that the form names, if it is one that the person may answer for at this moment. Whatever the form says,
 * the one that the client asked for is the one (threats.md UI-02).
 */
function readChoice(
  choices: OpenChoices,
  text: string | undefined,
): { readonly organization: OwnOrganization | undefined } | ConsentProblem {
  if (choices.kind === 'fixed') return { organization: choices.organization }
  const { organizations } = choices
  if (text === WITHOUT || (text === undefined && organizations.length === 0)) return { organization: undefined }
  if (text === undefined) return 'organization-missing'
  const organization = organizations.find(({ id }) => id === text)
  return organization === undefined ? 'organization-gone' : { organization }
}

type OpenChoices = Exclude<OrganizationChoices, { readonly kind: 'not-a-member' }>

/** `prompt=login`: only a session that began after the request was made will do. */
function mayAnswer(authorization: AuthorizationRecord, { session }: SignedIn): boolean {
  return !authorization.mustSignIn || session.createdAt >= authorization.createdAt
}

async function consentPage(
  context: Context,
  interaction: Interaction,
  signedIn: SignedIn,
  choices: OpenChoices,
  problem: ConsentProblem | undefined,
): Promise<Reply> {
  const { authorization, client } = interaction
  const { user } = signedIn
  const formToken = context.secrets.digest('csrf', formParts(interaction))
  const userToken = context.secrets.digest('csrf', userParts(interaction, signedIn))
  const { scopes, resources } = await describeTarget(context, authorization)
  return {
    kind: 'page',
    status: problem === undefined ? 200 : 400,
    formTarget: formTarget(authorization.redirectUri),
    page: {
      kind: 'consent',
      action: pageAddress(context.issuer, PATHS.consent, {
        authorization: undefined,
        uiLocales: interaction.uiLocales,
      }),
      hidden: { authorization: authorization.id, csrf: `${formToken}.${userToken}` },
      client: viewClient(client, authorization.redirectUri, context.clock()),
      scopes,
      resources,
      account: { email: user.email, name: user.name },
      organization: viewChoices(choices, problem),
      problem,
      switchUri: toSignInUri(context, interaction),
    },
  }
}

/**
 * Whoever belongs to one organization finds it chosen; whoever belongs to several must say which one they mean, each time
 * they are asked: nobody else can know, and a wrong one would hand the app what belongs to another.
 */
function viewChoices(choices: OpenChoices, problem: ConsentProblem | undefined): OrganizationView | undefined {
  if (choices.kind === 'fixed') return { kind: 'fixed', name: choices.organization.name }
  const { organizations } = choices
  const [only, another] = organizations
  if (only === undefined) return undefined
  const isAmbiguous = (name: string): boolean => organizations.filter((one) => one.name === name).length > 1
  return {
    kind: 'choice',
    options: [
      ...organizations.map(({ id, name }) => ({ value: id, name: isAmbiguous(name) ? `${name} (${id})` : name })),
      { value: WITHOUT, name: undefined },
    ],
    selected: another === undefined && problem === undefined ? only.id : undefined,
  }
}

async function describeTarget(
  context: Context,
  { scope, resources }: AuthorizationRecord,
): Promise<{ scopes: readonly ScopeView[]; resources: readonly ResourceView[] }> {
  const apis = await context.apis()
  const named = resources.length === 0 ? apis : apis.filter(({ resource }) => resources.includes(resource))
  const declared = named.flatMap((api) => api.scopes)
  return {
    scopes: scopeTokens(scope).flatMap((name) => sentencesOf(name, declared)),
    resources: resources.map((identifier) => {
      const api = named.find(({ resource }) => resource === identifier)
      // Where no API is declared, the scope that the client made up limits it.
      const isLimited = api === undefined ? scope !== NO_SCOPE : api.scopes.length > 0
      return { name: api?.name, identifier, isLimited }
    }),
  }
}

/** One word may mean something else to each API, and the person allows all of it. */
function sentencesOf(name: string, declared: readonly ApiScope[]): readonly ScopeView[] {
  const sentences = new Set(declared.filter((one) => one.name === name).map(({ sentence }) => sentence))
  return sentences.size === 0 ? [{ name, sentence: undefined }] : [...sentences].map((sentence) => ({ name, sentence }))
}

function toSignIn(context: Context, interaction: Interaction): Reply {
  return { kind: 'redirect', location: toSignInUri(context, interaction) }
}

function toSignInUri({ issuer }: Context, { authorization, uiLocales }: Interaction): string {
  return pageAddress(issuer, PATHS.signIn, { authorization: authorization.id, uiLocales })
}

function formParts({ authorization, browserHash }: Interaction): readonly string[] {
  return ['consent', authorization.id, browserHash]
}

function userParts(interaction: Interaction, { user }: SignedIn): readonly string[] {
  return [...formParts(interaction), user.id]
}
