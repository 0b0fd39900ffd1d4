#include "hone/report/page_style.h"

#include <string_view>

#include "hone/report/inline_svg.h"

namespace hone {
namespace {

// Every pair of text and background color used below has a contrast of at least 4.5 to 1.
constexpr std::string_view kLight =
    "color-scheme:light;--ground:#faf9f6;--card:#ffffff;--ink:#1b1d21;--quiet:#5a5f68;"
    "--line:#e2dfd8;--strong-line:#b9b5ab;--accent:#0f5c8c;--good:#1a6b45;--bad:#a3341a;--unclear:#"
    "7a5500;--shade:#1b1d2133;";
constexpr std::string_view kDark =
    "color-scheme:dark;--ground:#15171a;--card:#1e2126;--ink:#e8e7e4;--quiet:#a3a8b1;"
    "--line:#32363d;--strong-line:#565c66;--accent:#86c1ea;--good:#6fd0a0;--bad:#f29b82;--unclear:#"
    "e3b95c;--shade:#000000b0;";

constexpr std::string_view kRules = R"css(
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--ground);color:var(--ink);line-height:1.55;
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif}
main{max-width:76rem;margin:0 auto;padding:clamp(1.5rem,5vw,4rem) clamp(1rem,4vw,2.5rem) 4rem}
header{border-bottom:1px solid var(--strong-line);padding-bottom:1.5rem}
.title{margin:0;color:var(--accent);font-weight:600;overflow-wrap:anywhere}
h1{font-family:Charter,"Bitstream Charter","Iowan Old Style",Cambria,Georgia,"DejaVu Serif",serif;
font-size:clamp(1.55rem,1.1rem + 2.2vw,2.4rem);font-weight:500;line-height:1.2;
letter-spacing:-.01em;margin:.5rem 0 0;max-width:24em;overflow-wrap:break-word;text-wrap:balance}
h1.long{font-size:clamp(1.2rem,1rem + 1vw,1.6rem);line-height:1.3;max-width:36em}
.subtitle{margin:.9rem 0 0;color:var(--quiet);max-width:68ch}
section,details{margin-top:2.75rem}
h2{font-size:1.12rem;font-weight:650;margin:0 0 .75rem;line-height:1.3}
h3{font-size:1rem;font-weight:650;margin:0 0 .5rem;line-height:1.3}
.question{margin:.6rem 0 0;color:var(--quiet);max-width:68ch}
.chapters{list-style:none;padding:0}
.chapters li{border-top:1px solid var(--line);padding:1rem 0}
p{margin:.75rem 0;max-width:68ch;overflow-wrap:break-word}
dl{display:grid;grid-template-columns:minmax(8rem,max-content) minmax(0,1fr);gap:.35rem 1.75rem;
margin:.75rem 0;max-width:54rem}
dt{color:var(--quiet)}
dd{margin:0;overflow-wrap:anywhere;font-variant-numeric:tabular-nums}
.key{display:flex;flex-wrap:wrap;gap:.75rem 2.5rem;margin:1.1rem 0}
.key dt{font-size:.86rem}
.key dd{font-size:1.05rem;font-weight:600}
.scroll{overflow-x:auto;margin:.75rem 0;max-width:100%;width:fit-content;
border:1px solid var(--line);border-radius:.5rem;
background:linear-gradient(to left,var(--card) 40%,transparent) right/3rem 100% no-repeat local,
linear-gradient(to left,var(--shade),transparent) right/1rem 100% no-repeat scroll var(--card)}
.scroll:focus-visible,summary:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
table{border-collapse:separate;border-spacing:0;font-size:.92rem;line-height:1.4;
font-variant-numeric:tabular-nums lining-nums}
caption{caption-side:bottom;text-align:left;color:var(--quiet);padding:.6rem .9rem .7rem;
border-top:1px solid var(--line)}
caption span{display:block;position:sticky;left:.9rem;width:fit-content;
max-width:min(62ch,calc(100vw - 4.5rem))}
th,td{padding:.42rem .7rem;text-align:left;vertical-align:baseline;white-space:nowrap}
thead th{font-weight:600;color:var(--quiet);border-bottom:1px solid var(--strong-line);
vertical-align:bottom;white-space:normal}
tbody th{font-weight:500}
tbody tr+tr>*{border-top:1px solid var(--line)}
.number{text-align:right}
.good{color:var(--good)}
.bad{color:var(--bad)}
.unclear{color:var(--unclear)}
thead button{font:inherit;color:inherit;background:none;border:0;padding:0;cursor:pointer;
text-align:inherit}
thead th:has(button){cursor:pointer}
thead button:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
[aria-sort] button{color:var(--ink)}
[aria-sort=ascending] button::after{content:" ↑"}
[aria-sort=descending] button::after{content:" ↓"}
.long{white-space:normal;min-width:16rem;max-width:32rem;overflow-wrap:anywhere}
tr>:first-child{position:sticky;left:0;background:var(--card)}
figure{margin:.75rem 0}
figure>div{background:var(--card);border:1px solid var(--line);border-radius:.5rem;
padding:.75rem;overflow-x:auto;width:fit-content;max-width:100%}
figure svg{display:block;max-width:100%;height:auto}
figure svg text,figure svg tspan,figure svg g{
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif}
@media (scripting:enabled){.points{display:none}}
figure svg:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
figure .ring{fill:none;stroke:var(--ink);stroke-width:2;pointer-events:none}
.pointed{position:absolute;z-index:1;max-width:min(26rem,calc(100vw - 8px));padding:.35rem .6rem;pointer-events:none;
background:var(--ground);border:1px solid var(--strong-line);border-radius:.35rem;overflow-wrap:anywhere;
font-size:.86rem;line-height:1.4;box-shadow:0 2px 8px var(--shade)}
figcaption{color:var(--quiet);margin-top:.5rem;max-width:68ch;font-size:.92rem}
.narrow{display:none}
.only svg{max-width:max(100%,44rem)}
pre{background:var(--card);border:1px solid var(--line);border-radius:.5rem;margin:.75rem 0;
padding:.8rem .9rem;white-space:pre-wrap;overflow-wrap:anywhere;font-size:.86rem;line-height:1.5;
font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}
code{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.92em}
pre span{display:inline-block;max-width:100%}
.changed{list-style:none;padding:0;margin:.75rem 0;display:grid;gap:.75rem;
grid-template-columns:repeat(auto-fill,minmax(min(100%,26rem),1fr))}
.changed li{background:var(--card);border:1px solid var(--line);border-radius:.5rem;
padding:.7rem .9rem;min-width:0}
.changed p{margin:0;font-size:.92rem;color:var(--quiet)}
.changed b{font-weight:600;color:var(--ink)}
.changed .better{color:var(--good)}
.changed .worse{color:var(--bad)}
blockquote{margin:.4rem 0 0;overflow-wrap:anywhere;white-space:pre-line;max-height:12rem;
overflow-y:auto}
summary{cursor:pointer;width:fit-content}
summary h2,summary h3{display:inline;margin:0}
@media (min-width:40.01rem){
.dense{font-size:.8rem}
.dense th,.dense td{padding:.4rem .35rem}
.dense td:not(.number){white-space:normal}
.dense .long{min-width:8rem}
.crowded{font-size:.74rem}
.crowded th,.crowded td{padding:.35rem .2rem}
.crowded td.number{white-space:normal}
.crowded .long{min-width:6rem}
.scroll:has(.dense){--beyond:calc(clamp(1rem,4vw,2.5rem) - .75rem);
margin-inline:calc(-1*var(--beyond));max-width:calc(100% + 2*var(--beyond))}
}
@media (max-width:40rem){
dl{grid-template-columns:1fr;gap:0}
dd{margin-bottom:.6rem}
th,td{padding:.42rem .6rem}
tbody th{white-space:normal;max-width:36vw;overflow-wrap:break-word}
.long{min-width:13rem}
.scroll:has(.cards){width:auto}
.cards,.cards tbody,.cards caption{display:block}
.cards thead{display:none}
.cards tr{display:grid;grid-template-columns:1fr 1fr;column-gap:1rem;padding:.5rem .7rem}
.cards tbody tr+tr{border-top:1px solid var(--line)}
.cards tbody tr+tr>*{border-top:0}
.cards tbody th{grid-column:1/-1;position:static;max-width:none;padding:0 0 .2rem;font-weight:600;text-align:left}
.cards tbody th[data-label]::before{content:attr(data-label) " "}
.cards td{padding:.1rem 0;text-align:left;white-space:normal;min-width:0;overflow-wrap:anywhere}
.cards td.number{white-space:nowrap}
.cards td.long{grid-column:1/-1}
.cards td.absent{display:none}
.cards td::before{content:attr(data-label);display:block;white-space:normal;color:var(--quiet);font-size:.8rem}
tbody th.long{min-width:7rem;overflow-wrap:anywhere}
.wide{display:none}
.narrow{display:block}
figure>div{padding:.5rem .25rem;width:auto}
.narrow svg{margin:0 auto}
}
@media print{
:root{--ground:#ffffff}
main{max-width:none;padding:0}
section,details{margin-top:1.5rem}
h1{font-size:1.5rem}
table{font-size:.7rem}
th,td{padding:.2rem .4rem}
.scroll{background:none}
figure,li,tr{break-inside:avoid}
h2{break-after:avoid}
.scroll,blockquote{overflow:visible;max-height:none}
}
)css";

}  // namespace

std::string page_style() {
  std::string css = ":root{";
  css += kLight;
  css += figure_colours_css(/*dark=*/false) +
         "}\n@media screen and (prefers-color-scheme:dark){:root{";
  css += kDark;
  css += figure_colours_css(/*dark=*/true) + "}}";
  return css += kRules;
}

}  // namespace hone
