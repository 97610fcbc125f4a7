function e(e){let[t=``,...n]=e.split(`
`),r=n.join(`
`).trim();return{headline:r===``?t:t.replace(/[;,]? its last words:?$/,``),output:r}}function t(t){let{headline:n,output:r}=e(t),i=r.split(`
`).findLast(e=>e.trim()!==``);return i===void 0?n:`${n}: ${i.trim()}`}export{t as n,e as t};