import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { ApiScope } from '../../ports/records/api.ts'
import type { AuthorizationRecord } from '../../ports/records/authorization.ts'
import type { OrganizationView, ResourceView, ScopeView } from '../../ports/pages.ts'
import type { Parameters } from '../../protocol/message.ts'
import { NO_SCOPE, scopeTokens } from '../../protocol/scope.ts'
import { formTarget, viewClient } from './client-view.ts'
import { errorPage } from '../error-page.ts'
import { authorizationIn, findInteraction, findOpenInteraction, isCrossSite, type Interaction } from './interaction.ts'
import { nextStep, takeStep, type Allowed, type ConsentAnswer, type Step } from './next-step.ts'
import { WITHOUT, type OpenChoices } from './organization-choice.ts'
import { boxOf, choosableScopes, readBoxes } from './scope-choice.ts'
import { PATHS, pageAddress } from '../paths.ts'
import { findSignedIn, viewAccount, type SignedIn } from './session.ts'

/** Shows the consent page to the user who is signed in (decision 0022). */
export async function showConsent(context: Context, request: Request): Promise<Reply> {
  const interaction = await findOpenInteraction(context, request)
  if ('kind' in interaction) return interaction
  const signedIn = await findSignedIn(context, request.cookies)
  return reply(context, interaction, await nextStep(context, interaction, signedIn, { kind: 'asked' }))
}

/**
 * Accepts the answer from the consent page.
 *
 * The form names the authorization, says `allow` or `deny`, and may name one of the user's organizations; everything else comes
 * from the store (threats.md UI-02). The token in the form is valid for this browser, this authorization and the user to whom
 * the page was shown.
 */
export async function consent(context: Context, request: Request): Promise<Reply> {
  if (isCrossSite(request)) return errorPage('forged')
  const interaction = await findInteraction(context, request, authorizationIn(request))
  if ('kind' in interaction) return interaction
  const [formToken, userToken] = (request.params.get('csrf') ?? '').split('.', 2)
  if (!context.secrets.digestMatches('csrf', formParts(interaction), formToken ?? '')) return errorPage('forged')
  const signedIn = await findSignedIn(context, request.cookies)
  const isOtherUser =
    signedIn !== undefined && !context.secrets.digestMatches('csrf', userParts(interaction, signedIn), userToken ?? '')
  if (isOtherUser) return errorPage('user-changed')
  const answer = parseAnswer(request.params)
  if (answer === undefined) return errorPage('request-malformed')
  return reply(context, interaction, await nextStep(context, interaction, signedIn, answer))
}

function parseAnswer(params: Parameters): ConsentAnswer | undefined {
  const decision = params.get('decision')
  if (decision === 'deny') return { kind: 'deny' }
  if (decision !== 'allow') return undefined
  return { kind: 'allow', organization: params.get('organization'), isChecked: readBoxes(params) }
}

function reply(context: Context, interaction: Interaction, step: Step): Promise<Reply> {
  return step.kind === 'consent' ? consentPage(context, interaction, step) : takeStep(context, interaction, step, {})
}

async function consentPage(
  context: Context,
  interaction: Interaction,
  { signedIn, choices, problem, answer }: Extract<Step, { readonly kind: 'consent' }>,
): Promise<Reply> {
  const { authorization, uiLocales } = interaction
  const { user } = signedIn
  const formToken = context.secrets.digest('csrf', formParts(interaction))
  const userToken = context.secrets.digest('csrf', userParts(interaction, signedIn))
  const { scopes, resources } = await describeTarget(context, authorization, answer)
  return {
    kind: 'page',
    status: problem === undefined ? 200 : 400,
    formTarget: formTarget(authorization.redirectUri),
    page: {
      kind: 'consent',
      action: pageAddress(context.issuer, PATHS.consent, {
        authorization: undefined,
        uiLocales,
      }),
      hidden: { authorization: authorization.id, csrf: `${formToken}.${userToken}` },
      client: viewClient(interaction, authorization.redirectUri, context.clock()),
      scopes,
      resources,
      account: viewAccount(user),
      organization: viewChoices(choices, answer),
      problem,
      appsUri: pageAddress(context.issuer, PATHS.accountApps, { uiLocales }),
      switchUri: pageAddress(context.issuer, PATHS.signIn, {
        authorization: authorization.id,
        uiLocales,
      }),
    },
  }
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
  answer: Allowed | undefined,
): Promise<{ scopes: readonly ScopeView[]; resources: readonly ResourceView[] }> {
  const { scope, resources } = authorization
  const choosable = choosableScopes(authorization)
  const apis = await context.apis()
  const named = resources.length === 0 ? apis : apis.filter(({ resource }) => resources.includes(resource))
  const declared = named.flatMap((api) => api.scopes)
  return {
    scopes: scopeTokens(scope).map((name) => ({
      name,
      sentences: sentencesOf(name, declared),
      box: choosable.includes(name) ? { name: boxOf(name), isChecked: answer?.isChecked(name) ?? true } : undefined,
    })),
    resources: resources.map((identifier) => {
      const api = named.find(({ resource }) => resource === identifier)
      // If no API is declared, any scope of the client's own limits the access.
      const isLimited = api === undefined ? scope !== NO_SCOPE : api.scopes.length > 0
      return { name: api?.name, identifier, isLimited }
    }),
  }
}

/** A scope name may have a different meaning for each API. The user allows all of them, so the page lists each. */
function sentencesOf(name: string, declared: readonly ApiScope[]): readonly string[] {
  return [...new Set(declared.filter((one) => one.name === name).map(({ sentence }) => sentence))]
}

function formParts({ authorization, browserHash }: Interaction): readonly string[] {
  return ['consent', authorization.id, browserHash]
}

function userParts(interaction: Interaction, { user }: SignedIn): readonly string[] {
  return [...formParts(interaction), user.id]
}
