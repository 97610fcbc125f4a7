try{var s=localStorage.getItem("swath-color-scheme")}catch(e){}
if(s!=="light"&&s!=="dark")s=matchMedia("(prefers-color-scheme: dark)").matches?"dark":"light";
document.documentElement.setAttribute("data-mantine-color-scheme",s);