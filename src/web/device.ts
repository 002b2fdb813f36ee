import type { DeviceCodePage, DeviceCodeProblem, DeviceEndPage, DeviceView } from '../ports/pages/device.ts'
import type { ConsentPage } from '../ports/pages/pages.ts'
import { clientName, trustLine } from './client.ts'
import { developerNotes } from './developer-notes.ts'
import { fieldProblem, submitButton, textField } from './form-parts.ts'
import { tick, warning } from './icons.ts'
import { layout, type View } from './layout.ts'
import { code, type Fragment, hiddenFields, html, type Markup } from './markup.ts'
import { ago, inAWhile } from './spans.ts'
import type { PlainTextId } from './texts.ts'

/** The page on which a user types the code of a device. The field is always empty at first (threats.md DEV-04). */
export function deviceCodePage(view: View, page: DeviceCodePage): Markup {
  const { texts } = view
  const problem = page.problem === undefined ? undefined : describe(view, page.problem)
  return layout(view, {
    title: 'device.title',
    hasProblem: problem !== undefined,
    main: html`<h1>${texts.show('device.title')}</h1>
      <p class="lead">${texts.show('device.typeCode')}</p>
      <form method="post" action="${page.action}" novalidate>
        ${hiddenFields(page.hidden)}
        ${textField({
          id: 'code',
          label: texts.show('device.code'),
          hint: texts.show('device.codeHint'),
          attributes: html`class="user-code" autocomplete="off" autocapitalize="characters" spellcheck="false" autofocus`,
          problem,
        })}
        ${submitButton(texts.show('continue'), 'main')}
      </form>
      <p class="notice">${warning}<span>${texts.show('device.sentByOthers')}</span></p>`,
  })
}

function describe({ texts, language }: View, problem: DeviceCodeProblem): string {
  switch (problem.kind) {
    case 'user-code-missing':
      return texts.show('device.codeMissing')
    case 'user-code-wrong':
      return texts.show('device.codeWrong')
    case 'throttled':
      return texts.show('throttled', { when: inAWhile(language, problem.retryAfterSeconds) })
  }
}

/** The begin of the consent page for a device: its code, what it says that it is, and from where it asked (decision 0039). */
export function deviceHead(view: View, { client }: Pick<ConsentPage, 'client'>, device: DeviceView): Markup {
  const { texts } = view
  const name = html`<strong>${clientName(view, client, texts.show('namelessAppInside'))}</strong>`
  const who =
    client.trust.level === 'unverified'
      ? html`<p class="trust unverified">${warning}<span>${texts.show('device.saysItIs', { client: name })}</span></p>`
      : html`<p class="part">${texts.show('device.is', { client: name })}</p>
          ${trustLine(view, client)}`
  return html`<h1>${texts.show('device.heading')}</h1>
    <p class="user-code shown">${code(device.userCode)}</p>
    <p class="lead">${texts.show('device.isShown')}</p>
    ${who} ${asked(view, device)}`
}

function asked(view: View, { askedSecondsAgo, elsewhere }: DeviceView): Markup {
  const { texts } = view
  const since = ago(view, askedSecondsAgo)
  if (elsewhere === undefined)
    return html`<p class="small muted after">
      ${texts.show('device.askedHere', { ago: since })} ${texts.show('device.phishing')}
    </p>`
  const where = texts.show('device.askedElsewhere', {
    ago: since,
    network: html`<strong>${code(elsewhere.network)}</strong>`,
  })
  return html`<p class="notice">${warning}<span>${where} ${texts.show('device.phishing')}</span></p>`
}

/** The box that a user must check for a device of another network. */
export function ownDeviceField(view: View, { device, problem }: Pick<ConsentPage, 'device' | 'problem'>): Fragment {
  if (device?.elsewhere === undefined) return undefined
  const { texts } = view
  const { box, isChecked } = device.elsewhere
  const isBlamed = problem === 'device-unconfirmed'
  const marks = [
    isChecked ? html` checked` : undefined,
    isBlamed ? html` aria-invalid="true" aria-describedby="device-problem" autofocus` : undefined,
  ]
  return html`<div class="field">
    <label class="choice">
      <input type="checkbox" name="${box}" value="on" ${marks} />
      <span class="box" aria-hidden="true">${tick}</span><span>${texts.show('device.isOwn')}</span>
    </label>
    ${isBlamed ? fieldProblem('device-problem', texts.show('device.unconfirmed')) : undefined}
  </div>`
}

/** How it ended. The user goes on at the device. */
export function deviceEndPage(view: View, { end }: DeviceEndPage): Markup {
  const { texts } = view
  switch (end.kind) {
    case 'connected': {
      const apps = html`<a class="inline" href="${end.appsUri}">${texts.show('account.pages.apps')}</a>`
      return message(view, 'device.connected', [
        html`<p class="lead">${texts.show('device.goBack')}</p>`,
        html`<p class="small muted after">${texts.show('device.notYou', { connectedApps: apps })}</p>`,
      ])
    }
    case 'denied':
      return message(view, 'device.denied', html`<p class="lead">${texts.show('device.deniedHint')}</p>`)
    case 'refused':
      return message(view, 'device.refused', [
        html`<p class="lead">${texts.show(`returnProblems.${end.problem}`)}</p>`,
        html`<p class="lead">${texts.show('device.startAgain')}</p>`,
        developerNotes(view, end.notes),
      ])
  }
}

function message(view: View, title: PlainTextId, content: Fragment): Markup {
  return layout(view, {
    title,
    main: html`<h1>${view.texts.show(title)}</h1>
      ${content}`,
  })
}
