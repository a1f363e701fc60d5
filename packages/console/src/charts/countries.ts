/**
 * One square for each country, about where it lies among its neighbours: rows from north to south, a code and its column.
 * Small countries are as large as others, and no outline is needed.
 */
const rows = [
  'CA2 GL8 IS10 FO11 NO13 SE14 FI15 RU19',
  'US2 IE10 GB11 DK13 EE15',
  'BM6 NL11 DE12 PL13 LT14 LV15 BY16',
  'MX1 BE11 LU12 CZ13 SK14 UA15 MD16 KZ20 MN24',
  'GT1 BZ2 CU4 BS5 FR10 CH11 LI12 AT13 HU14 RO15 GE17 AZ18 UZ20 KG21 CN24 KP25 JP27',
  'SV1 HN2 JM4 HT5 DO6 PR7 PT9 ES10 AD11 MC12 SI13 HR14 RS15 BG16 AM17 TM19 TJ21 KR26',
  'NI2 KN6 AG7 GP8 IT11 SM12 BA13 ME14 XK15 MK16 TR17 IR19 AF20 PK21 NP22 BT23 MO24 HK25 TW26',
  'CR2 DM6 LC7 MQ8 MT12 AL14 GR15 CY16 LB17 SY18 IQ19 KW20 IN22 BD23 MM24 LA25 VN26',
  'PA3 VC6 BB7 MA10 DZ11 TN12 LY13 EG14 PS15 IL16 JO17 SA18 BH19 QA20 LK22 TH24 KH25 PH27',
  'CO3 VE4 GD6 TT7 EH9 MR10 ML11 NE12 TD13 SD14 ER15 YE18 OM19 AE20 MV21 MY24 SG25 BN26 PW27 FM28',
  'EC3 GY4 SR5 GF6 CV8 SN9 GM10 BF11 BJ12 NG13 CF14 SS15 ET16 DJ17 ID24 TL25 PG26 SB27 MH28',
  'PE3 BR5 GW9 GN10 CI11 GH12 CM13 CG14 UG15 KE16 SO17 VU27 NR28',
  'BO4 PY5 SL10 LR11 TG12 GQ13 CD14 RW15 TZ16 SC18 AU24 NC26 FJ27 KI28',
  'CL3 AR4 UY5 ST12 GA13 BI15 MW16 KM17 MU19 NZ26 TO27 WS28',
  'FK4 AO13 ZM14 ZW15 MZ16 MG18 RE19',
  'NA13 BW14 SZ15',
  'ZA14 LS15',
] as const

export interface Tile {
  readonly code: string
  readonly column: number
  readonly row: number
}

export const tiles: readonly Tile[] = rows.flatMap((text, row) =>
  text.split(' ').map((tile) => ({ code: tile.slice(0, 2), column: Number(tile.slice(2)), row })),
)

export const mapColumns = 29
export const mapRows = rows.length
