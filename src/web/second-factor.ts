import { encode } from 'uqr'
import type { RecoveryCodesPage } from '../ports/pages/pages.ts'
import type { EnrolmentView } from '../ports/pages/parts.ts'
import { submitButton, textField } from './form-parts.ts'
import { layout, type View } from './layout.ts'
import { hiddenFields, html, type Markup } from './markup.ts'

/** How an app is set up: the QR code, the key for those who type it, and the field of the first code. */
export function enrolmentFields(view: View, { uri, key }: EnrolmentView, isWrong: boolean): Markup {
  const { texts } = view
  return html`<p class="after">${texts.show('scanCode')}</p>
    ${qrCode(uri, texts.say('qrCode'))}
    <p class="small muted" id="key">${texts.show('typeKey')} <code class="key">${key}</code></p>
    ${copyButton(view, 'key')}
    ${textField({
      id: 'code',
      label: texts.show('code'),
      hint: texts.show('codeHint'),
      attributes: html`inputmode="numeric" autocomplete="one-time-code" autocapitalize="none" spellcheck="false"
      ${isWrong ? html`autofocus` : undefined}`,
      problem: isWrong ? texts.show('codeWrong') : undefined,
    })}`
}

/** The codes, shown once, and a link that saves them as a file. The file is in the link, so that no address of the server has the codes. */
export function recoveryCodeList(view: View, codes: readonly string[]): Markup {
  const { texts } = view
  const file = `data:text/plain;charset=utf-8,${encodeURIComponent(`${codes.join('\n')}\n`)}`
  return html`<p class="lead">${texts.show('recoverySave')}</p>
    <ul class="codes" role="list" id="codes">
      ${codes.map((code) => html`<li><code>${code}</code></li> `)}
    </ul>
    ${copyButton(view, 'codes')}
    <p class="step">
      <a class="button" href="${file}" download="recovery-codes.txt">${texts.show('recoveryDownload')}</a>
    </p>`
}

/** A button that a script shows (`copyScript`), and that copies the codes in the element with this id. */
function copyButton({ texts }: View, id: string): Markup {
  return html`<p class="step" hidden>
    <button class="button" type="button" data-copy="${id}" data-done="${texts.say('copied')}">
      <span aria-live="polite">${texts.show('copy')}</span>
    </button>
  </p>`
}

/** The recovery codes of an app that was set up in a sign-in. The form continues the sign-in. */
export function recoveryCodesPage(view: View, { action, hidden, codes }: RecoveryCodesPage): Markup {
  const { texts } = view
  return layout(view, {
    title: 'recoveryCodes',
    main: html`<h1>${texts.show('recoveryCodes')}</h1>
      ${recoveryCodeList(view, codes)}
      <form method="post" action="${action}" novalidate>
        ${hiddenFields(hidden)} ${submitButton(texts.show('continue'), 'main')}
      </form>`,
  })
}

/** Dark on light in every colour scheme, because not every camera reads the opposite. ISO/IEC 18004 asks for four squares around it. */
function qrCode(text: string, label: string): Markup {
  const { size, data } = encode(text, { ecc: 'M', border: 4 })
  const squares = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
  return html`<svg
    class="qr"
    role="img"
    aria-label="${label}"
    viewBox="0 0 ${size} ${size}"
    shape-rendering="crispEdges"
  >
    <rect width="${size}" height="${size}" fill="#fff" />
    <path d="${squares.join('')}" fill="#000" />
  </svg>`
}
