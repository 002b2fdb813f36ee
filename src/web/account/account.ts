import type { DataPage, OverviewPage } from '../../ports/pages/account.ts'
import { submitButton, textField } from '../form-parts.ts'
import { tick } from '../icons.ts'
import type { View } from '../layout.ts'
import { html, isolate, type Markup } from '../markup.ts'
import { emailSection } from './email.ts'
import { accountForm, accountLayout } from './frame.ts'

/** Name, e-mail address and organizations. */
export function overviewPage(view: View, page: OverviewPage): Markup {
  const { texts } = view
  const { frame, problem } = page
  const name = textField({
    id: 'name',
    label: texts.show('account.name'),
    hint: texts.show('account.nameHint'),
    attributes: html`value="${page.name}" autocomplete="name" ${problem === undefined ? undefined : html`autofocus`}`,
    problem: problem === undefined ? undefined : texts.show('account.nameUnusable'),
  })
  return accountLayout(view, frame, 'overview', {
    hasProblem: problem !== undefined,
    main: html`${page.isNameEditable ? accountForm(frame.pages.overview, frame.csrf, {}, [name, submitButton(texts.show('account.save'), 'main')]) : undefined}
      <dl class="facts">
        ${page.isNameEditable ? undefined : fixedName(view, page)}
        <div>
          <dt>${view.texts.show('email')}</dt>
          ${emailSection(view, page)}
        </div>
        ${
          page.organizations.length === 0
            ? undefined
            : html`<div>
                <dt>${texts.show('account.organizations')}</dt>
                ${page.organizations.map((one) => html`<dd>${isolate(one)}</dd>`)}
              </div>`
        }
      </dl>`,
  })
}

const KEPT = ['account', 'providers', 'organizations', 'apps', 'browsers', 'events'] as const

/** What is kept about the user, and the form that downloads it. */
export function dataPage(view: View, { frame }: DataPage): Markup {
  const { texts } = view
  return accountLayout(view, frame, 'data', {
    main: html`<section class="part" aria-labelledby="kept">
        <h2 id="kept">${texts.show('account.kept')}</h2>
        <ul class="scopes" role="list">
          ${KEPT.map(
            (item) =>
              html`<li>
                <span class="fixed">${tick}<span>${texts.show(`account.keptItems.${item}`)}</span></span>
              </li> `,
          )}
        </ul>
      </section>
      <p class="small muted after">${texts.show('account.keptLater')}</p>
      ${accountForm(frame.pages.data, frame.csrf, {}, submitButton(texts.show('account.download'), 'main'))}`,
  })
}

function fixedName({ texts }: View, { name }: OverviewPage): Markup {
  return html`<div>
    <dt>${texts.show('account.name')}</dt>
    <dd>
      ${name === '' ? texts.show('account.noName') : isolate(name)}
      <span class="small muted">${texts.show('account.nameOfApplication')}</span>
    </dd>
  </div>`
}
