import qrcode from 'qrcode-generator'
import styles from './account.module.css'

const margin = 4

/** Dark on light in both themes: cameras read the other way round badly. */
export default function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const code = qrcode(0, 'M')
  code.addData(text)
  code.make()
  const size = code.getModuleCount()
  const rows = Array.from({ length: size }, (_, i) => i)
  const path = rows
    .flatMap((y) => rows.map((x) => (code.isDark(y, x) ? `M${x + margin} ${y + margin}h1v1h-1z` : '')))
    .join('')
  const whole = size + 2 * margin
  return (
    <svg
      className={styles.code}
      viewBox={`0 0 ${whole} ${whole}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <rect width={whole} height={whole} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}
