import type { LinkMethodsPage, LinkPage, LinkUsedPage, OwnMethod, SecurityPage } from '../../ports/account-pages.ts'
import { accountForm, accountLayout, accountName, confirmation } from './account.ts'
import { fieldProblem, linkButton, submitButton } from '../form-parts.ts'
import { layout } from '../layout.ts'
import type { View } from '../layout.ts'
import { tick } from '../icons.ts'
import { hiddenFields, html, isolate } from '../markup.ts'
import type { Fragment, Markup } from '../markup.ts'
import { ago } from '../spans.ts'

/** How the user can sign in, and the forms that change it. */
export function securityPage(view: View, page: SecurityPage): Markup {
  const { frame, methods, confirmUri, problem } = page
  return accountLayout(view, frame, 'security', {
    hasProblem: problem !== undefined,
    main: [
      methods.length === 0 ? html`<p class="part">${view.texts.account.noMethods}</p>` : undefined,
      ...methods.filter(({ kind }) => kind !== 'provider').map((method) => ownMethod(view, page, method)),
      confirmUri === undefined ? addable(view, page) : undefined,
      methods.length > 0 && confirmUri !== undefined ? confirmation(view, confirmUri) : undefined,
    ],
  })
}

function ownMethod(view: View, page: SecurityPage, method: OwnMethod): Fragment {
  switch (method.kind) {
    case 'password':
      return password(view, page, method)
    case 'identity':
      return identity(view, page, method)
    case 'provider':
      return undefined
  }
}

/** An account at a provider, and the form that removes it. */
function identity(
  view: View,
  { frame, confirmUri }: SecurityPage,
  { name, email, linkedSecondsAgo, usedSecondsAgo, hidden }: Extract<OwnMethod, { readonly kind: 'identity' }>,
): Markup {
  const texts = view.texts.account
  const used = texts.identityUsed(ago(view, linkedSecondsAgo), ago(view, usedSecondsAgo))
  const button = submitButton(html`<span>${texts.disconnect(isolate(name))}</span>`, 'plain')
  const removal =
    hidden === undefined
      ? html`<p class="small muted after">${texts.onlyMethod}</p>`
      : accountForm(frame.pages.security, frame.csrf, hidden, button)
  return html`<section class="part">
    <h2>${isolate(name)}</h2>
    <p>${email === undefined ? texts.identity : texts.identityOf(isolate(email))}</p>
    <p class="small muted">${used}</p>
    ${confirmUri === undefined ? removal : undefined}
  </section>`
}

/** The providers that the user can add. */
function addable({ texts: { account: texts } }: View, { frame, methods }: SecurityPage): Fragment {
  const offers = methods.filter((method) => method.kind === 'provider')
  if (offers.length === 0) return undefined
  return html`<section class="part" aria-labelledby="add-heading">
    <h2 id="add-heading">${texts.addMethod}</h2>
    ${offers.map(({ name, hidden }) =>
      accountForm(
        frame.pages.security,
        frame.csrf,
        hidden,
        submitButton(html`<span>${texts.add(isolate(name))}</span>`, 'plain'),
      ),
    )}
  </section>`
}

function password(
  view: View,
  page: SecurityPage,
  { isSet, username }: Extract<OwnMethod, { readonly kind: 'password' }>,
): Markup {
  const texts = view.texts.account
  const { frame, confirmUri } = page
  const content = [
    passwordFields(view, username, page),
    html`<p class="small muted after">${texts.otherSessionsEnd}</p>`,
    submitButton(texts.changePassword, 'main'),
  ]
  return html`<section class="part" aria-labelledby="password-heading">
    <h2 id="password-heading">${view.texts.password}</h2>
    <p>${isSet ? texts.hasPassword : texts.hasNoPassword}</p>
    ${confirmUri === undefined ? accountForm(frame.pages.security, frame.csrf, {}, content) : undefined}
  </section>`
}

/** The identities that the user of a link may keep. None is chosen beforehand, because one may be of a thief. */
export function linkMethodsPage(view: View, { action, hidden, account, methods }: LinkMethodsPage): Markup {
  const texts = view.texts.account
  return layout(view, {
    title: texts.linkMethodsHeading,
    main: html`<h1>${texts.linkMethodsHeading}</h1>
      <p class="lead">${texts.linkMethods(accountName(account))}</p>
      <form method="post" action="${action}" novalidate>
        ${hiddenFields(hidden)}
        <ul class="scopes" role="list">
          ${methods.map(
            ({ key, isOfApplication, name, email, linkedSecondsAgo, usedSecondsAgo }) =>
              html`<li>
                <label class="choice">
                  <input type="checkbox" name="keep" value="${key}" />
                  <span class="box" aria-hidden="true">${tick}</span>
                  <span>
                    <span class="line"
                      >${isOfApplication ? texts.application : isolate(name)}${email === undefined ? undefined : html` · ${isolate(email)}`}</span
                    >
                    <span class="line small muted"
                      >${texts.identityUsed(ago(view, linkedSecondsAgo), ago(view, usedSecondsAgo))}</span
                    >
                  </span>
                </label>
              </li> `,
          )}
        </ul>
        ${submitButton(texts.goOn, 'main')}
      </form>`,
  })
}

/** The form of a link that an operator handed over. */
export function linkPage(view: View, page: LinkPage): Markup {
  const { branding } = view
  const texts = view.texts.account
  const isInvitation = page.purpose === 'invitation'
  const title = isInvitation ? texts.invitationTitle : texts.resetHeading
  return layout(view, {
    title: page.problem === undefined ? title : view.texts.titleWithError(title),
    main: html`<h1>${isInvitation ? texts.invitationHeading(isolate(branding.name)) : texts.resetHeading}</h1>
      ${isInvitation ? undefined : html`<p class="lead">${texts.resetConsequence}</p>`}
      ${page.providers.map(({ id, name }) => acceptForm(view, page, id, name))} ${linkPassword(view, page)}`,
  })
}

/** The form that adds an account at a provider to the link's user. */
function acceptForm({ texts }: View, { action, hidden }: LinkPage, provider: string, name: string): Markup {
  return html`<form method="post" action="${action}">
    ${hiddenFields({ ...hidden, provider })}
    ${submitButton(html`<span>${texts.continueWith(isolate(name))}</span>`, 'plain')}
  </form>`
}

function linkPassword(view: View, page: LinkPage): Fragment {
  const texts = view.texts.account
  const account = accountName(page.account)
  if (page.username === undefined) return html`<p class="lead">${texts.linkWithoutPassword(account)}</p>`
  return html`${page.providers.length === 0 ? undefined : html`<p class="or small muted">${view.texts.or}</p>`}
    <p class="lead">${texts.linkFor(account)}</p>
    <form method="post" action="${page.action}" novalidate>
      ${hiddenFields(page.hidden)} ${passwordFields(view, page.username, page)}
      ${submitButton(texts.setPassword, 'main')}
    </form>`
}

export function linkUsedPage(view: View, { accountUri }: LinkUsedPage): Markup {
  const texts = view.texts.account
  return layout(view, {
    title: texts.linkUsedHeading,
    main: html`<h1>${texts.linkUsedHeading}</h1>
      <p class="lead">${texts.linkUsed}</p>
      ${linkButton(accountUri, texts.toAccount)}`,
  })
}

/** The two fields of a new password. The name of the user is for password managers. */
function passwordFields(
  { texts }: View,
  username: string,
  { problem, shortestPassword }: Pick<SecurityPage, 'problem' | 'shortestPassword'>,
): Markup {
  const { newPassword, newPasswordHint, repeatPassword, passwordProblems } = texts.account
  const isOfRepeated = problem === 'passwords-differ'
  const error = (id: string, isHere: boolean): Fragment =>
    problem === undefined || !isHere ? undefined : fieldProblem(id, passwordProblems[problem](shortestPassword))
  const blame = (isHere: boolean): Fragment =>
    problem !== undefined && isHere ? html` aria-invalid="true" autofocus` : undefined
  return html`<input type="hidden" name="username" value="${username}" autocomplete="username" />
    <div class="field">
      <label for="password">${newPassword}</label>
      <p class="small muted hint" id="password-hint">${newPasswordHint(shortestPassword)}</p>
      <input
        id="password"
        name="password"
        type="password"
        autocomplete="new-password"
        aria-describedby="${problem === undefined || isOfRepeated ? 'password-hint' : 'password-hint password-problem'}"
        ${blame(!isOfRepeated)}
      />
      ${error('password-problem', !isOfRepeated)}
    </div>
    <div class="field">
      <label for="repeated">${repeatPassword}</label>
      <input
        id="repeated"
        name="repeated"
        type="password"
        autocomplete="new-password"
        ${blame(isOfRepeated)}${isOfRepeated ? html` aria-describedby="repeated-problem"` : undefined}
      />
      ${error('repeated-problem', isOfRepeated)}
    </div>`
}
